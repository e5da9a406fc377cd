"""Runs a TCP check from several places and prints the answers, with httpx alone.

    python3 check.py http://127.0.0.1:8080 example.com 443
"""

import json
import sys

import httpx


def events(response):
    """Server-Sent Events of a response, as (name, data)."""
    name, data = "message", []
    for line in response.iter_lines():
        line = line.rstrip("\n")  # httpx before 0.24 keeps it
        if line == "":
            if data:
                yield name, json.loads("\n".join(data))
            name, data = "message", []
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))


def main(url, host, port):
    # A heartbeat arrives every 8 s: 20 s of silence are a lost connection.
    with httpx.Client(base_url=url, timeout=20) as client:
        started = client.post("/check", json={"type": "tcp", "host": host, "port": int(port)})
        if started.is_error:
            # A problem document (RFC 9457): what is wrong, and for 429 and 503 how long to wait.
            sys.exit(f"{started.status_code}: {started.json()['detail']} {started.headers.get('retry-after', '')}")
        check = started.json()["checkId"]
        with client.stream("GET", f"/check/{check}/events") as response:
            for name, event in events(response):
                if name == "probe":
                    print("live:", event["probe"], event["result"]["result"])
                elif name == "completed":
                    for probe, result in event["results"].items():
                        print(probe, result["result"], result.get("rt"))
                    break
        summary = client.get(f"/check/{check}/summary").json()
        print(summary["verdict"], summary["headline"])


if len(sys.argv) != 4 or not sys.argv[3].isdigit():
    sys.exit("Usage: python3 check.py URL HOST PORT\n  such as: python3 check.py http://127.0.0.1:8080 example.com 443")
main(*sys.argv[1:])
