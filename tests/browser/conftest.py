"""A real Chromium against a real server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def server():
    """The dashboard on a free port of this machine; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "dashboard" / "app.py")]
    options = ["--server.headless=true", f"--server.port={port}"]
    process = subprocess.Popen(
        command + options, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            if process.poll() is not None:
                pytest.fail(f"the dashboard did not start: {process.stdout.read()}")
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        break
            except OSError:
                time.sleep(0.25)
        else:
            pytest.fail("the dashboard did not answer within a minute")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


@pytest.fixture(scope="session")
def chromium():
    """System Chromium, else Playwright's own; in CI a missing browser is a failure."""
    from playwright.sync_api import Error, sync_playwright

    system = next(
        (p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None
    )
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=system, args=FLAGS)
        except Error as error:
            reason = f"no browser: install Chromium or run 'playwright install chromium' ({str(error).splitlines()[0]})"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        yield browser
        browser.close()


PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.0 Mobile/15E148 Safari/604.1"
)
SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "user_agent": PHONE,
    },
}


@pytest.fixture(params=list(SCREENS))
def page(chromium, request):
    """A fresh session on a desktop and on a phone; the page must never show a traceback."""
    context = chromium.new_context(accept_downloads=True, **SCREENS[request.param])
    context.set_default_timeout(30_000)
    opened = context.new_page()
    yield opened
    assert opened.get_by_test_id("stException").count() == 0
    context.close()


def settled(page) -> None:
    """Wait until the script has run and nothing on the page is stale."""
    page.wait_for_function(
        """() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
                 && !document.querySelector('[data-stale="true"]')"""
    )
