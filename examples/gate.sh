#!/bin/sh
# A gate in a deploy script: asks a person, and deploys only after a yes.
#
#   ./gate.sh 1.7 ./deploy.sh production
#
# Runs `./deploy.sh production` after a yes, at most once for version 1.7, even if this script is started several times:
# the key makes it one question, and `countersign wait --exec` remembers that the command has run.
#
# Exits with 0 after a yes, 10 after a no, 11 if the person skipped it, 12 if the ask expired, 13 if it was withdrawn,
# 14 if it is still open after GATE_TIMEOUT (default 1h; start the script again to keep waiting).
set -u

version=${1:?usage: gate.sh VERSION COMMAND [ARGS...]}
shift
[ $# -gt 0 ] || { echo "usage: gate.sh VERSION COMMAND [ARGS...]" >&2; exit 2; }

id=$(countersign ask "Ship $version to production?" --confirm --yes "Ship it" --no "Hold" \
  --key "ship-$version" --expires "${GATE_EXPIRES:-8h}" --detach) || exit

countersign wait "$id" --timeout "${GATE_TIMEOUT:-1h}" >/dev/null
code=$?
case $code in
  0) exec countersign wait "$id" --exec "$@" ;;
  10) echo "gate: a person said no" >&2 ;;
  11) echo "gate: the person skipped it" >&2 ;;
  12) echo "gate: no answer in time, which is not a yes" >&2 ;;
  13) echo "gate: the question was withdrawn" >&2 ;;
  14) echo "gate: still open; start this again to keep waiting" >&2 ;;
  *) echo "gate: asking failed" >&2 ;;
esac
exit "$code"
