"""``python -m leapprof.config.playbook_json`` prints the JSON Schema of playbooks (docs/playbook.schema.json)."""

import json
import sys

from leapprof.config.playbook import json_schema

if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n")
