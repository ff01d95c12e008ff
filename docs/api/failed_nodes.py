"""Lists the nodes whose newest verdict is no pass, each with its causes.

    CUPEL_SERVER=https://cupel.example.com:8443 CUPEL_TOKEN_FILE=cupel-token python3 failed_nodes.py

Exit codes: 0 none failed, 1 some did, 3 the service was not asked, or not all of it could be read.
"""
import sys

from cupel_client import Client, CupelError, printable


def line_of(cause):
    words = [cause.get(each) for each in ("part", "criterion", "measured")]
    line = " ".join(printable(word) for word in words if word)
    return f"{line}, expected {printable(cause['expected'])}" if cause.get("expected") else line


def main():
    client = Client.from_environment()
    results = client.list_results()
    failed = [each for each in results if each["state"] in ("fail", "inconclusive")]
    for each in failed:
        print(f"{printable(each['node'])} {each['state']} in run {each['run']}: {printable(each.get('cause'))}")
        for cause in client.read_run_node(each["run"], each["node"])["causes"]:
            print(f"  {line_of(cause)}")
    if results.incomplete:
        print("not all results are read yet: ask again", file=sys.stderr)
        return 3
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CupelError, ValueError, OSError) as error:
        print(f"failed_nodes: {error}", file=sys.stderr)
        sys.exit(3)
