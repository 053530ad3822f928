BEGIN TRANSACTION;
CREATE TABLE calcore_acknowledgements (
	alert_id BIGINT NOT NULL, 
	"by" TEXT NOT NULL, 
	note TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	PRIMARY KEY (alert_id), 
	FOREIGN KEY(alert_id) REFERENCES calcore_alerts (id)
);
INSERT INTO "calcore_acknowledgements" VALUES(1,'ann','seen','2025-03-02 12:30:15.123456');
CREATE TABLE calcore_alerts (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stream_id BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	key_digest VARCHAR(64) NOT NULL, 
	UNIQUE (stream_id, key_digest), 
	FOREIGN KEY(stream_id) REFERENCES calcore_streams (id)
);
INSERT INTO "calcore_alerts" VALUES(1,1,'w1: ece','4b28c7322039d0ee364587c60f5afc9503558586db0663df1ae21e2189d41344');
CREATE TABLE calcore_batch_records (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stream_id BIGINT NOT NULL, 
	run_id BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	key_digest VARCHAR(64) NOT NULL, 
	label TEXT NOT NULL, 
	start DATETIME, 
	"end" DATETIME, 
	rows BIGINT NOT NULL, 
	labelled BIGINT NOT NULL, 
	kind VARCHAR(9) NOT NULL CHECK (kind IN ('measured', 'estimated')), 
	document TEXT NOT NULL, 
	UNIQUE (run_id, key_digest), 
	FOREIGN KEY(stream_id) REFERENCES calcore_streams (id), 
	FOREIGN KEY(run_id) REFERENCES calcore_runs (id)
);
INSERT INTO "calcore_batch_records" VALUES(1,1,1,'w1','60c5590f72eef292f9545afc28bf63ca91d2016a0a288f90f9a32f89d3fffcaf','week 1','2025-03-01 12:30:15.123456','2025-03-02 12:30:15.123456',1000,0,'estimated','{"version": 1, "document": {"ece": 0.05}}');
INSERT INTO "calcore_batch_records" VALUES(2,1,2,'w1','60c5590f72eef292f9545afc28bf63ca91d2016a0a288f90f9a32f89d3fffcaf','week 1','2025-03-01 12:30:15.123456','2025-03-02 12:30:15.123456',1000,900,'measured','{"version": 1, "document": {"ece": 0.30000000000000004}}');
INSERT INTO "calcore_batch_records" VALUES(3,1,2,'w2','06f8faea3b5f697691b6d063a07ba4ffaf1ece9a1d473c588565231cdc8e59cc','week 2','2025-03-02 12:30:15.123456',NULL,10,0,'estimated','{"version": 1, "document": {"upper": {"$float": "nan"}}}');
CREATE TABLE calcore_datasets (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stream_id BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	filename TEXT NOT NULL, 
	rows BIGINT NOT NULL, 
	columns TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	UNIQUE (stream_id, sha256), 
	FOREIGN KEY(stream_id) REFERENCES calcore_streams (id)
);
INSERT INTO "calcore_datasets" VALUES(1,1,'abababababababababababababababababababababababababababababababab','week 1''s.csv',1000,'["score", "label"]','2025-03-01 12:30:15.123456');
CREATE TABLE calcore_kept_rows (
	dataset_id BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	parquet BLOB NOT NULL, 
	PRIMARY KEY (dataset_id), 
	FOREIGN KEY(dataset_id) REFERENCES calcore_datasets (id)
);
INSERT INTO "calcore_kept_rows" VALUES(1,'f03e0e67a4ca8632660bc5a7760c5759faa83ab447a431b59440fbf257b5ec7f',X'5041523100FF50415231');
CREATE TABLE calcore_live_periods (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stream_id BIGINT NOT NULL, 
	number INTEGER NOT NULL, 
	map_id BIGINT, 
	since DATETIME NOT NULL, 
	"by" TEXT NOT NULL, 
	UNIQUE (stream_id, number), 
	FOREIGN KEY(stream_id) REFERENCES calcore_streams (id), 
	FOREIGN KEY(map_id) REFERENCES calcore_maps (id)
);
INSERT INTO "calcore_live_periods" VALUES(1,1,1,1,'2025-03-01 12:30:15.123456','ann');
CREATE TABLE calcore_maps (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stream_id BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	parent_id BIGINT, 
	json TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	UNIQUE (stream_id, sha256), 
	FOREIGN KEY(stream_id) REFERENCES calcore_streams (id), 
	FOREIGN KEY(parent_id) REFERENCES calcore_maps (id)
);
INSERT INTO "calcore_maps" VALUES(1,1,'1d911f9ac5f2393f4bd09de815e3921bf5553f6b5cec9c70c0147297b7b0643e','Platt, March',NULL,'{"format": "calcore.calibration-map", "version": 1, "function": {"kind": "logistic", "slope": 1.1, "intercept": 0.30000000000000004, "clip": 1e-06}, "calibrator": "Platt", "observation": {"name": "Clean", "parameters": {}, "assumptions": []}, "n": 10, "parameters": {}, "input_domain": [0.0, 1.0], "subgroups": [], "data_sha256": null, "metrics": {}, "warnings": [], "library_version": "0.1.0", "created": null, "checksum": "1d911f9ac5f2393f4bd09de815e3921bf5553f6b5cec9c70c0147297b7b0643e"}','2025-03-01 12:30:15.123456');
CREATE TABLE calcore_runs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stream_id BIGINT NOT NULL, 
	dataset_id BIGINT NOT NULL, 
	"key" TEXT NOT NULL, 
	key_digest VARCHAR(64) NOT NULL, 
	content_digest VARCHAR(64) NOT NULL, 
	settings TEXT NOT NULL, 
	state TEXT, 
	at DATETIME NOT NULL, 
	UNIQUE (stream_id, key_digest), 
	FOREIGN KEY(stream_id) REFERENCES calcore_streams (id), 
	FOREIGN KEY(dataset_id) REFERENCES calcore_datasets (id)
);
INSERT INTO "calcore_runs" VALUES(1,1,1,'c14a73fc0a560b5c4c20eba5b67ac6c80be7121c6214fc33c2bdd1e28d8f438e','23f20910238e8357273971be557ea9f25d45117fa2629eea5e25ecf6bf6121e8','843b12dd7d68a469adb1e52b1f53d5da824c928abbf85a9b4144b3646f996a2d','{"version": 1, "document": {"bins": 15}}',NULL,'2025-03-01 12:30:15.123456');
INSERT INTO "calcore_runs" VALUES(2,1,1,'586b3566a5ae98d2c81282606237fb10215285bc7d482bbce56c695df441649d','aac35244da796286405751cba19d8cd46e99c00503c043f6da1497b31a17d4c2','dc3f2fd3907c7a7c8630ca7585df73e4ec64b1f37540e19d407a207756324e48','{"version": 1, "document": {"bins": 15}}','{"version": 1, "document": {"e-value": 1.25}}','2025-03-02 12:30:15.123456');
CREATE TABLE calcore_schema (
	one INTEGER NOT NULL CHECK (one = 1), 
	version INTEGER NOT NULL, 
	erasing BOOLEAN NOT NULL, 
	PRIMARY KEY (one)
);
INSERT INTO "calcore_schema" VALUES(1,1,0);
CREATE TABLE calcore_sightings (
	alert_id BIGINT NOT NULL, 
	run_id BIGINT NOT NULL, 
	level TEXT NOT NULL, 
	batch_key TEXT, 
	document TEXT NOT NULL, 
	PRIMARY KEY (alert_id, run_id), 
	FOREIGN KEY(alert_id) REFERENCES calcore_alerts (id), 
	FOREIGN KEY(run_id) REFERENCES calcore_runs (id)
);
INSERT INTO "calcore_sightings" VALUES(1,2,'wrong','w1','{"version": 1, "document": {"ece": 0.30000000000000004}}');
CREATE TABLE calcore_streams (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name TEXT NOT NULL, 
	name_digest VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	UNIQUE (name_digest)
);
INSERT INTO "calcore_streams" VALUES(1,'credit model, weekly 😀','c45967c1211b618b19a0c67a9d47df68c51a7542c2a1fd4308fae9a6206fc61f','2025-03-01 12:30:15.123456');
CREATE INDEX ix_calcore_runs_dataset_id ON calcore_runs (dataset_id);
CREATE INDEX calcore_batch_records_by_key ON calcore_batch_records (stream_id, key_digest);
CREATE INDEX ix_calcore_sightings_run_id ON calcore_sightings (run_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('calcore_streams',1);
INSERT INTO "sqlite_sequence" VALUES('calcore_datasets',1);
INSERT INTO "sqlite_sequence" VALUES('calcore_runs',2);
INSERT INTO "sqlite_sequence" VALUES('calcore_batch_records',3);
INSERT INTO "sqlite_sequence" VALUES('calcore_alerts',1);
INSERT INTO "sqlite_sequence" VALUES('calcore_maps',1);
INSERT INTO "sqlite_sequence" VALUES('calcore_live_periods',1);
COMMIT;
