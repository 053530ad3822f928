"""The numbers of the LWCal paper's tables, to stand beside those that come out here."""

from __future__ import annotations

#: Table III: ECE, Brier, NLL, AUC.
MAIN = {
    "Gated-LWCal": (0.122, 0.125, 0.396, 0.895),
    "LWCal": (0.113, 0.126, 0.409, 0.891),
    "Isotonic": (0.147, 0.134, 0.424, 0.879),
    "Raw": (0.188, 0.138, 0.438, 0.900),
    "TrimCal-Beta": (0.146, 0.138, 0.441, 0.896),
    "Platt": (0.187, 0.147, 0.457, 0.880),
    "Beta": (0.189, 0.149, 0.461, 0.878),
    "TrimCal-Iso": (0.125, 0.134, 0.487, 0.858),
}
#: The oracle of the text, V-A: ECE, NLL.
ORACLE = (0.057, 0.340)
#: Columns of Tables IV and V.
FOUR = ("Raw", "Isotonic", "LWCal", "Gated-LWCal")
#: Table IV: ECE of the four, then NLL.
BY_RATE = {
    0.1: (0.158, 0.085, 0.053, 0.053, 0.298, 0.243, 0.223, 0.223),
    0.2: (0.197, 0.151, 0.074, 0.075, 0.381, 0.347, 0.279, 0.278),
    0.3: (0.212, 0.188, 0.127, 0.159, 0.479, 0.485, 0.432, 0.442),
    0.4: (0.185, 0.166, 0.198, 0.200, 0.594, 0.620, 0.700, 0.640),
}
#: Table V, likewise.
BY_MODE = {
    "symmetric": (0.191, 0.151, 0.080, 0.112, 0.448, 0.434, 0.367, 0.382),
    "asymmetric": (0.185, 0.144, 0.146, 0.132, 0.428, 0.414, 0.450, 0.410),
}
#: Table VI: Gated-LWCal minus another, over base learners: mean and interval over cells.
DELTAS = {
    ("ECE", "Raw"): (-0.0796, -0.0883, -0.0713),
    ("ECE", "Isotonic"): (-0.0427, -0.0501, -0.0353),
    ("ECE", "Beta"): (-0.0904, -0.0988, -0.0819),
    ("ECE", "LWCal"): (0.0131, 0.0083, 0.0176),
    ("Brier", "Raw"): (-0.0196, -0.0227, -0.0166),
    ("Brier", "Isotonic"): (-0.0149, -0.0172, -0.0125),
    ("Brier", "Beta"): (-0.0290, -0.0324, -0.0258),
    ("Brier", "LWCal"): (0.0010, -0.0005, 0.0024),
    ("NLL", "Raw"): (-0.0574, -0.0683, -0.0464),
    ("NLL", "Isotonic"): (-0.0428, -0.0518, -0.0338),
    ("NLL", "Beta"): (-0.0809, -0.0924, -0.0696),
    ("NLL", "LWCal"): (-0.0028, -0.0091, 0.0029),
}
#: Table VII: ECE, Brier, NLL by centre and width of the gate.
GATES = {
    (0.25, 0.08): (0.130, 0.125, 0.396),
    (0.25, 0.12): (0.126, 0.124, 0.393),
    (0.25, 0.16): (0.124, 0.124, 0.392),
    (0.29, 0.08): (0.125, 0.125, 0.397),
    (0.29, 0.12): (0.122, 0.125, 0.396),
    (0.29, 0.16): (0.120, 0.125, 0.396),
    (0.33, 0.08): (0.121, 0.126, 0.401),
    (0.33, 0.12): (0.119, 0.126, 0.402),
    (0.33, 0.16): (0.118, 0.126, 0.401),
    (0.35, 0.08): (0.121, 0.127, 0.406),
    (0.35, 0.12): (0.119, 0.126, 0.405),
    (0.35, 0.16): (0.116, 0.126, 0.405),
}
#: Table VIII: ECE of raw and LWCal, NLL of raw and Gated-LWCal.
BY_TASK = {
    "Breast Cancer": (0.194, 0.119, 0.408, 0.367),
    "Digits Even": (0.216, 0.094, 0.416, 0.309),
    "Digits High": (0.226, 0.095, 0.432, 0.315),
    "Iris Versicolor": (0.184, 0.134, 0.399, 0.441),
    "Synthetic Imbalance": (0.162, 0.095, 0.450, 0.447),
    "Synthetic Overlap": (0.174, 0.118, 0.517, 0.486),
    "Synthetic Sparse": (0.146, 0.166, 0.618, 0.621),
    "Wine Class 0": (0.196, 0.106, 0.362, 0.317),
    "Wine Class 2": (0.196, 0.089, 0.341, 0.260),
}
#: Table IX: mean |y - p| of both classes, of the rarer one, and their difference.
BY_CLASS = {
    "Raw": (0.342, 0.384, 0.140),
    "Isotonic": (0.317, 0.359, 0.153),
    "LWCal": (0.238, 0.302, 0.223),
    "Gated-LWCal": (0.259, 0.317, 0.186),
}
#: Table X: ECE and NLL at rates .2 and .3.
BY_LEARNER = {
    ("random forest", "Raw"): (0.204, 0.432),
    ("random forest", "Isotonic"): (0.169, 0.414),
    ("random forest", "Beta"): (0.215, 0.459),
    ("random forest", "LWCal"): (0.105, 0.363),
    ("random forest", "Gated-LWCal"): (0.120, 0.364),
    ("extra trees", "Raw"): (0.221, 0.433),
    ("extra trees", "Isotonic"): (0.168, 0.397),
    ("extra trees", "Beta"): (0.226, 0.446),
    ("extra trees", "LWCal"): (0.103, 0.342),
    ("extra trees", "Gated-LWCal"): (0.120, 0.350),
    ("gradient boosting", "Raw"): (0.178, 0.461),
    ("gradient boosting", "Isotonic"): (0.156, 0.471),
    ("gradient boosting", "Beta"): (0.194, 0.492),
    ("gradient boosting", "LWCal"): (0.117, 0.457),
    ("gradient boosting", "Gated-LWCal"): (0.124, 0.441),
}
