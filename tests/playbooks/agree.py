#!/usr/bin/env python3
"""Holds playbooks against a JSON Schema, as an editor would: agree.py SCHEMA FILE...
One line for each file: "good", or "bad: why". Knows nothing of Cupel."""
import json
import sys

import jsonschema
import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
validator = jsonschema.Draft202012Validator(schema)
validator.check_schema(schema)
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:
        errors = list(validator.iter_errors(yaml.safe_load(file)))
    print("good" if not errors else "bad: " + errors[0].message.replace("\n", " ")[:200])
