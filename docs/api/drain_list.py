"""Prints as CSV which nodes are to take no jobs: those whose newest verdict is no pass, with what Slurm was given.

    CUPEL_SERVER=unix:/run/cupel/cupel.sock python3 drain_list.py > drain.csv

Exit codes: 0 printed, 3 the service was not asked, or not all of it could be read.
"""
import csv
import sys

from cupel_client import Client, CupelError, printable


def cell(text):
    """A spreadsheet takes what begins so for a formula."""
    text = printable(text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) else text


def main():
    client = Client.from_environment()
    results = client.list_results()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["node", "run", "state", "hand_off", "cause"])
    for each in results:
        if each["state"] not in ("fail", "inconclusive"):
            continue
        record = client.read_run_node(each["run"], each["node"])
        handed = cell(record.get("hand_off")) or "none"
        table.writerow([cell(each["node"]), each["run"], each["state"], handed, cell(each.get("cause"))])
    if results.incomplete:
        print("not all results are read yet: ask again", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CupelError, ValueError, OSError) as error:
        print(f"drain_list: {error}", file=sys.stderr)
        sys.exit(3)
