//! Every shell block of docs/recipes runs as written, on a fresh machine with a hub.

use crate::reader::Reader;

const GREETING: &str = "Countersign is listening on http://127.0.0.1:7422\n…";

fn follow(name: &str, page: &str) {
    let mut reader = Reader::new(name);
    reader.run("hub", "countersign serve", GREETING);
    reader.write_script("deploy.sh", "#!/bin/sh\necho \"deployed $*\"");
    let commands = reader.follow(page);
    assert!(commands > 0, "{name} has no commands");
    reader.finish();
}

macro_rules! recipes {
    ($($name:ident: $file:literal,)*) => {$(
        #[test]
        fn $name() {
            follow(stringify!($name), include_str!(concat!("../../../../docs/recipes/", $file)));
        }
    )*};
}

recipes! {
    the_common_steps_work: "README.md",
    claude_code_works: "claude-code.md",
    codex_works: "codex.md",
    opencode_works: "opencode.md",
    gemini_cli_works: "gemini-cli.md",
    cursor_works: "cursor.md",
    github_actions_works: "github-actions.md",
    gitlab_ci_works: "gitlab-ci.md",
    jenkins_works: "jenkins.md",
    cron_works: "cron.md",
    python_works: "python.md",
    langgraph_works: "langgraph.md",
    n8n_works: "n8n.md",
}
