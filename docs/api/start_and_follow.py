"""Starts a run, prints its events as they are written, and then how each node stands.

    python3 start_and_follow.py new-rack rack:a01 --set raw=no

Exit codes: 0 all passed, 1 some did not, 2 wrong words, 3 the service was not asked or refused it, 4 it waits for a
second person. A run that halts stays open: what it waits for is among the events, and Ctrl-C ends this program alone.
"""
import argparse
import sys

from cupel_client import Client, CupelError, printable


def asked():
    parser = argparse.ArgumentParser(description="Starts a run and follows it.")
    parser.add_argument("playbook")
    parser.add_argument("nodes", help="all, rack:a01, a01-n[01-04]")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the playbook")
    parser.add_argument("--no-console", action="store_true", help="record no serial consoles")
    parser.add_argument("--wait-for-repair", type=int, metavar="SECONDS", help="how long it stays open for repairs")
    given = parser.parse_args()
    wrong = [each for each in given.set if "=" not in each]
    if wrong:
        parser.error(f"--set is NAME=VALUE, not {', '.join(wrong)}")
    return given


def follow(client, run):
    with client.stream_run(run) as events:
        for event in events:
            words = [event.get(each) for each in ("node", "step", "words")]
            print(event["time"], event["kind"], *(printable(word) for word in words if word), flush=True)
            if event["kind"] in ("run-ended", "run-cancelled"):
                return


def main():
    given = asked()
    client = Client.from_environment()
    answer = client.start_run(
        playbook=given.playbook,
        nodes=given.nodes,
        set=dict(each.split("=", 1) for each in given.set),
        consoles=not given.no_console,
        wait_for_repair_s=given.wait_for_repair,
    )
    if "approval" in answer:
        print(f"it waits for a second person: approval {printable(answer['approval'])}")
        return 4
    print(f"run {answer['run']}", flush=True)
    follow(client, answer["run"])
    nodes = list(client.list_run_nodes(answer["run"]))
    for node in nodes:
        print(" ".join(printable(node.get(each)) for each in ("node", "state", "cause")).rstrip())
    return 0 if all(node["state"] == "pass" for node in nodes) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CupelError, ValueError, OSError) as error:
        print(f"start_and_follow: {error}", file=sys.stderr)
        sys.exit(3)
