"""A receiver of pushes, written from the text of a built skill alone. It uses nothing of Countersign.

Usage: page_verifier.py SKILL.md SIGNATURE_HEADER SENT_ID SEEN_FILE CLOCK_OFFSET < body
Prints `good` and ends with 0, or prints why it refuses and ends with 1.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request


def canonical(value):
    # Sorted keys, no spaces, UTF-8: enough for the texts and booleans of these tests.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def decode(text):
    if re.search("[^A-Za-z0-9_-]", text):
        raise ValueError("not base64url")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def said(page, pattern):
    found = re.search(pattern, page)
    return found.group(1) if found else None


def fits_hmac(page, context, given):
    keys = os.environ[said(page, r"The key is the UTF-8 text of\s+`([A-Z_]+)`")].split()
    made = [hmac.digest(key.encode(), context, "sha256") for key in keys]
    return any(hmac.compare_digest(one, decode(other)) for one in made for other in given)


def fits_ed25519(page, context, given):
    address = said(page, r"`signature_keys` of `GET (\S+)`")
    with urllib.request.urlopen(address) as reply:
        keys = [key for key in json.load(reply)["signature_keys"] if key["alg"] == "ed25519"]
    return any(openssl(decode(key["public_key"]), context, decode(one)) for key in keys for one in given)


def openssl(public_key, context, signature):
    with tempfile.TemporaryDirectory() as place:
        def write(name, content):
            path = os.path.join(place, name)
            with open(path, "wb") as file:
                file.write(content)
            return path

        # The fixed beginning of a SubjectPublicKeyInfo for Ed25519.
        key = write("key", bytes.fromhex("302a300506032b6570032100") + public_key)
        command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", key, "-rawin"]
        command += ["-in", write("context", context), "-sigfile", write("signature", signature)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def check(page, header, sent, seen, offset, body):
    pairs = [pair.strip().split("=", 1) for pair in header.split(",")]
    named = dict(pairs)
    payload = {"response": body.get("response"), "state": body.get("state")}
    context = {
        "a2h_version": body["a2h_version"],
        "callback_url": said(page, r"\| `callback_url` \| `([^`]+)` \|"),
        "id": body["in_reply_to"],
        "in_reply_to": body["in_reply_to"],
        "jti": named["jti"],
        "payload_sha256": hashlib.sha256(canonical(payload)).hexdigest(),
        "resolution": body["resolution"],
        "resolution_id": body["resolution_id"],
        "resolved_at": body["response"]["resolved_at"],
        "t": named["t"],
    }
    given = [value for name, value in pairs if name == "v1"]
    fits = fits_hmac if "HMAC-SHA256 of the context" in page else fits_ed25519
    if not fits(page, canonical(context), given):
        return "wrong signature"
    window = int(said(page, r"`t` is more than (\d+) seconds away"))
    if abs(time.time() + offset - int(named["t"])) > window:
        return "outside the window"
    with open(seen, "a+") as file:
        file.seek(0)
        if named["jti"] in file.read().split():
            return "seen before"
        file.write(named["jti"] + "\n")
    return "good" if body["in_reply_to"] == sent else "another message"


def main():
    page_path, header, sent, seen, offset = sys.argv[1:]
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    verdict = check(page, header, sent, seen, int(offset), json.load(sys.stdin))
    print(verdict)
    sys.exit(verdict != "good")


main()
