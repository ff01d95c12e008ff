#!/usr/bin/python3
"""The Redfish server of fwupd's own tests, over TLS: serve_fwupd.py REDFISH.PY FOLDER

FOLDER has `certificate` and `key`, and gets `port`. Its resources and its answers are fwupd's. It
reads who asks from HTTP Basic alone; a client of DSP0266 says it once, in the body that opens a
session, and shows the session's token from then on.
"""

import base64
import importlib.util
import sys

from flask import request
from werkzeug.serving import make_server


def main(path, folder):
    spec = importlib.util.spec_from_file_location("fwupd_redfish", path)
    fwupd = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fwupd)
    users = {}

    def as_basic():
        login = None
        if request.method == "POST" and request.path.endswith("/Sessions"):
            body = request.get_json(silent=True) or {}
            login = f"{body.get('UserName')}:{body.get('Password')}"
            users["session"] = login
        elif "X-Auth-Token" in request.headers:
            login = users.get("session")
        if login is not None:
            coded = base64.b64encode(login.encode()).decode()
            request.environ["HTTP_AUTHORIZATION"] = "Basic " + coded

    fwupd.app.before_request(as_basic)
    server = make_server("127.0.0.1", 0, fwupd.app, threaded=True,
                         ssl_context=(f"{folder}/certificate", f"{folder}/key"))
    with open(f"{folder}/port", "w", encoding="ascii") as file:
        file.write(str(server.server_port))
    print("ready", flush=True)
    server.serve_forever()


main(*sys.argv[1:])
