//! `cueme help` and `cueme -v`.

pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\n");

pub const TEXT: &str = "\
Usage: cueme <command> [arguments]

Lets an agent in a terminal talk with its person, through a Countersign hub.

  cueme join <agent_runtime>              get an agent_id for this conversation
  cueme cue <agent_id> -                  ask or report; the envelope comes on stdin; waits for the answer
  cueme pause <agent_id> [prompt | -]     wait until the person says continue
  cueme resume <agent_id>                 wait again for what this agent asked last, or print what came meanwhile
  cueme proto apply|rm|path <agent>       put the protocol into an agent's instructions, take it out, show the file;
                                          with --project those of the current project, not of all
  cueme proto <agent> | init | ls         print it; write the configuration; list the agents
  cueme fix <issue>                       fix a known issue of this machine
  cueme migrate [PATH]                    bring an existing ~/.cue/cue.db into the hub
  cueme migrate --settings                take the texts of the original cueme out of ~/.cue/cueme.json
  cueme -p, --protocol                    print the protocol
  cueme -v, --version                     print the version

The envelope, each tag alone on its line; the payload may be left out:
  <cueme_prompt>
  Markdown: what you want to say or ask
  </cueme_prompt>
  <cueme_payload>
  {\"type\": \"choice\", \"options\": [\"Yes\", \"No\"]}
  </cueme_payload>

Options, anywhere after the subcommand:
  --max-wait DUR    stop waiting after 90s, 10m, 2h; the request stays open (never: the default)
  --json            one line of JSON, and an exit code for every outcome
  --no-start        do not start a hub when none runs
  --data DIR        the hub's data directory (default: $COUNTERSIGN_DATA, ~/.local/share/countersign)

Environment: COUNTERSIGN_URL and COUNTERSIGN_TOKEN name a hub elsewhere; CUEME_STDIN_SECONDS; CUEME_LANGUAGE (en, zh,
de), CUEME_REMINDER, CUEME_MAX_WAIT and CUEME_START_HUB=0, which may also stand in ~/.cue/cueme.json.
";
