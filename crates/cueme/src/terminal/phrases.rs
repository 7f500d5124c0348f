//! The texts printed around an answer, in each language: facts and possible next steps, no orders.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Chinese,
    German,
}

/// `{id}` stands for the agent's id, `{cause}` for the id of the newer request.
#[derive(Debug)]
pub struct Phrases {
    pub answered: &'static str,
    pub resumed: &'static str,
    pub nothing_said: &'static str,
    pub only_files: &'static str,
    pub files: &'static str,
    pub comment: &'static str,
    pub reason: &'static str,
    pub declined: &'static str,
    pub cancelled: &'static str,
    pub superseded: &'static str,
    pub expired: &'static str,
    pub still_open: &'static str,
    pub earlier: &'static str,
    pub current: &'static str,
    pub reminder: &'static str,
    pub joined: &'static str,
    pub afterwards: &'static str,
}

impl Language {
    pub fn read(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "en" => Ok(Self::English),
            "zh" => Ok(Self::Chinese),
            "de" => Ok(Self::German),
            _ => Err("write en, zh or de".to_owned()),
        }
    }

    pub fn phrases(self) -> &'static Phrases {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
            Self::German => &GERMAN,
        }
    }
}

static ENGLISH: Phrases = Phrases {
    answered: "The user answered:",
    resumed: "The user says: continue.",
    nothing_said: "The user answered without a text.",
    only_files: "The user attached files:",
    files: "Attached files:",
    comment: "Comment:",
    reason: "Reason:",
    declined: "The user declined.",
    cancelled: "The request was cancelled and has no answer. To ask again, run `cueme cue {id} -`; to wait for the user, \
                run `cueme pause {id}`.",
    superseded: "A newer request of this agent has replaced this one ({cause}); only the newer one will be answered. To wait \
                 for its answer, run `cueme resume {id}`.",
    expired: "Nobody answered in time, and the request is closed. To ask again, run `cueme cue {id} -`; to wait for the user, \
              run `cueme pause {id}`.",
    still_open: "No answer yet. The request stays open, and an answer given meanwhile is kept. To go on waiting, run \
                 `cueme resume {id}`.",
    earlier: "Earlier question:",
    current: "Current question:",
    reminder: "Before you end your turn, and whenever a decision is the user's, run `cueme cue {id} -` again.",
    joined: "This agent_id is yours for the whole conversation. To report or to ask, run:",
    afterwards: "It waits for the user and prints the answer. The payload block may be left out. Run it before you end your \
                 turn; `cueme -p` tells the rest.",
};

static CHINESE: Phrases = Phrases {
    answered: "用户答复：",
    resumed: "用户表示：继续。",
    nothing_said: "用户已答复，但没有文字。",
    only_files: "用户附上了文件：",
    files: "附件：",
    comment: "备注：",
    reason: "原因：",
    declined: "用户拒绝了。",
    cancelled: "该请求已取消，没有答复。再次提问请运行 `cueme cue {id} -`；等待用户请运行 `cueme pause {id}`。",
    superseded: "该请求已被此 agent 的较新请求取代（{cause}），只有较新的请求会得到答复。等待其答复请运行 `cueme resume {id}`。",
    expired: "在期限内无人答复，该请求已关闭。再次提问请运行 `cueme cue {id} -`；等待用户请运行 `cueme pause {id}`。",
    still_open: "尚无答复。请求仍然有效，期间的答复会被保留。继续等待请运行 `cueme resume {id}`。",
    earlier: "较早的问题：",
    current: "当前问题：",
    reminder: "结束本轮之前，以及每当需要用户决定时，请再次运行 `cueme cue {id} -`。",
    joined: "整个对话都使用这个 agent_id。汇报或提问请运行：",
    afterwards: "它会等待用户并打印答复。payload 部分可以省略。结束本轮之前请运行它；其余说明见 `cueme -p`。",
};

static GERMAN: Phrases = Phrases {
    answered: "Die Antwort des Nutzers:",
    resumed: "Der Nutzer sagt: weiter.",
    nothing_said: "Der Nutzer hat ohne Text geantwortet.",
    only_files: "Der Nutzer hat Dateien angehängt:",
    files: "Angehängte Dateien:",
    comment: "Kommentar:",
    reason: "Grund:",
    declined: "Der Nutzer hat abgelehnt.",
    cancelled: "Die Anfrage wurde ohne Antwort abgebrochen. Erneut fragen: `cueme cue {id} -`; auf den Nutzer warten: \
                `cueme pause {id}`.",
    superseded: "Eine neuere Anfrage dieses Agenten hat diese ersetzt ({cause}); nur die neuere wird beantwortet. Auf deren \
                 Antwort warten: `cueme resume {id}`.",
    expired: "Niemand hat rechtzeitig geantwortet, die Anfrage ist geschlossen. Erneut fragen: `cueme cue {id} -`; auf den \
              Nutzer warten: `cueme pause {id}`.",
    still_open: "Noch keine Antwort. Die Anfrage bleibt offen, eine Antwort geht nicht verloren. Weiter warten: \
                 `cueme resume {id}`.",
    earlier: "Frühere Frage:",
    current: "Aktuelle Frage:",
    reminder: "Vor dem Ende des Zuges, und wann immer der Nutzer zu entscheiden hat, wieder `cueme cue {id} -` aufrufen.",
    joined: "Diese agent_id gilt für das ganze Gespräch. Zum Berichten oder Fragen:",
    afterwards: "Der Aufruf wartet auf den Nutzer und gibt die Antwort aus. Der payload-Block darf fehlen. Vor dem Ende des \
                 Zuges aufrufen; alles Weitere sagt `cueme -p`.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_names_the_next_commands() {
        for language in [Language::English, Language::Chinese, Language::German] {
            let phrases = language.phrases();
            for (text, command) in [
                (phrases.still_open, "cueme resume {id}"),
                (phrases.superseded, "cueme resume {id}"),
                (phrases.expired, "cueme pause {id}"),
                (phrases.cancelled, "cueme cue {id} -"),
                (phrases.reminder, "cueme cue {id} -"),
            ] {
                assert!(text.contains(command), "{language:?}: {text}");
            }
        }
        assert!(Language::read("fr").is_err());
    }
}
