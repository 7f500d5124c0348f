#!/bin/sh
# Run by `countersign wait --exec`: reads the outcome from standard input and ships only after a yes.
set -eu
outcome=$(cat)
field() { printf '%s' "$outcome" | jq -r "$1 // empty"; }

if [ "$(field .resolution)" != answered ] || [ "$(field .value)" != approve ]; then
  echo "not shipped: $(field .resolution) $(field .value)"
  exit 0
fi

# The hub returned the state. The seal proves that it is ours, unchanged, and belongs to this question.
state=$(printf '%s' "$outcome" | countersign open --bind "$COUNTERSIGN_AGENT" "$(field .idempotency_key)")
echo "shipping $(printf '%s' "$state" | jq -r .tag), approved by $(field .actor)"
# ./deploy.sh "$(printf '%s' "$state" | jq -r .commit)"
