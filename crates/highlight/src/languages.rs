//! The languages that agents send most, as the scanner needs them.

/// How a text in quotes is written.
pub struct Quote {
    pub open: &'static str,
    pub close: &'static str,
    /// A backslash takes the next letter with it.
    pub escapes: bool,
    /// Otherwise the end of the line ends the text.
    pub spans_lines: bool,
}

/// Which names before a separator are keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    None,
    /// The first word or text of a line.
    FirstOfLine(char),
    /// Any text in quotes.
    Quoted(char),
}

pub struct Language {
    /// Names of fences and endings of files, between blanks.
    names: &'static str,
    pub line_comments: &'static [&'static str],
    pub block_comment: Option<(&'static str, &'static str)>,
    pub quotes: &'static [Quote],
    /// Between blanks.
    pub keywords: &'static str,
    pub ignores_case: bool,
    pub keys: Keys,
    /// A letter in single quotes is a text; a single quote without its partner begins a name, as in `'static`.
    pub has_lifetimes: bool,
    /// Colours only inside of angle brackets.
    pub is_markup: bool,
}

const DOUBLE: Quote = Quote {
    open: "\"",
    close: "\"",
    escapes: true,
    spans_lines: false,
};
const SINGLE: Quote = Quote {
    open: "'",
    close: "'",
    escapes: true,
    spans_lines: false,
};
const LITERAL: Quote = Quote {
    escapes: false,
    spans_lines: true,
    ..SINGLE
};
const LONG_DOUBLE: Quote = Quote {
    spans_lines: true,
    ..DOUBLE
};
const BACKTICK: Quote = Quote {
    open: "`",
    close: "`",
    escapes: true,
    spans_lines: true,
};
const TRIPLE_DOUBLE: Quote = Quote {
    open: "\"\"\"",
    close: "\"\"\"",
    escapes: true,
    spans_lines: true,
};
const TRIPLE_SINGLE: Quote = Quote {
    open: "'''",
    close: "'''",
    escapes: true,
    spans_lines: true,
};

/// A language with comments like C, which most others vary.
const C_LIKE: Language = Language {
    names: "",
    line_comments: &["//"],
    block_comment: Some(("/*", "*/")),
    quotes: &[DOUBLE, SINGLE],
    keywords: "",
    ignores_case: false,
    keys: Keys::None,
    has_lifetimes: false,
    is_markup: false,
};
const HASH_LIKE: Language = Language {
    line_comments: &["#"],
    block_comment: None,
    ..C_LIKE
};

pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES
        .iter()
        .find(|language| language.names.split(' ').any(|known| known == name))
}

static LANGUAGES: [Language; 15] = [
    Language {
        names: "rust rs",
        quotes: &[LONG_DOUBLE],
        has_lifetimes: true,
        keywords: "as async await break const continue crate dyn else enum false fn for if impl in let loop match mod move \
            mut pub ref return self Self static struct super trait true type unsafe use where while",
        ..C_LIKE
    },
    Language {
        names: "python py python3 pyi",
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keywords: "and as assert async await break class continue def del elif else except False finally for from global if \
            import in is lambda match None nonlocal not or pass raise return self True try while with yield",
        ..HASH_LIKE
    },
    Language {
        names: "javascript js jsx mjs cjs typescript ts tsx node",
        quotes: &[DOUBLE, SINGLE, BACKTICK],
        keywords: "abstract any as async await boolean break case catch class const continue default delete do else enum \
            export extends false finally for from function if implements import in instanceof interface let new null \
            number of private public readonly return static string super switch this throw true try type typeof \
            undefined var void while yield",
        ..C_LIKE
    },
    Language {
        names: "json jsonc json5 ndjson jsonl",
        quotes: &[DOUBLE],
        keys: Keys::Quoted(':'),
        keywords: "true false null",
        ..C_LIKE
    },
    Language {
        names: "yaml yml",
        keys: Keys::FirstOfLine(':'),
        keywords: "true false null yes no on off",
        ..HASH_LIKE
    },
    Language {
        names: "toml ini cfg conf env properties",
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        keys: Keys::FirstOfLine('='),
        keywords: "true false",
        ..HASH_LIKE
    },
    Language {
        names: "sh bash shell zsh console fish shellscript",
        quotes: &[LONG_DOUBLE, LITERAL],
        keywords: "case do done elif else esac exit export fi for function if in local readonly return set shift source \
            sudo then trap until while",
        ..HASH_LIKE
    },
    Language {
        names: "sql psql postgres postgresql sqlite mysql",
        line_comments: &["--"],
        quotes: &[
            Quote {
                escapes: false,
                ..LONG_DOUBLE
            },
            LITERAL,
        ],
        ignores_case: true,
        keywords: "add all alter and as asc begin between by cascade case column commit constraint create default delete \
            desc distinct drop else end exists false foreign from full group having if in index inner insert into is \
            join key left like limit not null offset on or order outer primary references returning right rollback \
            select set table then true truncate union unique update using values view when where with",
        ..C_LIKE
    },
    Language {
        names: "html htm xml svg vue xhtml",
        line_comments: &[],
        block_comment: Some(("<!--", "-->")),
        is_markup: true,
        quotes: &[
            Quote {
                escapes: false,
                ..LONG_DOUBLE
            },
            LITERAL,
        ],
        ..C_LIKE
    },
    Language {
        names: "css scss less",
        line_comments: &[],
        keys: Keys::FirstOfLine(':'),
        keywords: "important media supports import keyframes container layer",
        ..C_LIKE
    },
    Language {
        names: "go golang",
        quotes: &[
            DOUBLE,
            SINGLE,
            Quote {
                escapes: false,
                ..BACKTICK
            },
        ],
        keywords: "bool break byte case chan const continue default defer else error fallthrough false for func go goto if \
            import int interface map nil package range return select string struct switch true type var",
        ..C_LIKE
    },
    Language {
        names: "java kotlin kt kts scala groovy gradle cs csharp swift",
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE],
        keywords: "abstract boolean break byte case catch char class continue default do double else enum extends false \
            final finally float for fun if implements import in instanceof int interface long new null override \
            package private protected public record return short static super switch this throw throws true try val \
            var void when while",
        ..C_LIKE
    },
    Language {
        names: "c h cpp c++ cc cxx hpp hh",
        keywords: "auto bool break case catch char class const constexpr continue default define delete do double else enum \
            extern false float for if ifdef ifndef include endif inline int long namespace new nullptr private \
            protected public return short signed sizeof static struct switch template this throw true try typedef \
            typename union unsigned using virtual void volatile while",
        ..C_LIKE
    },
    Language {
        names: "dockerfile docker containerfile",
        ignores_case: true,
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user \
            volume workdir",
        ..HASH_LIKE
    },
    Language {
        names: "hcl tf terraform tfvars nomad",
        line_comments: &["#", "//"],
        quotes: &[DOUBLE],
        keys: Keys::FirstOfLine('='),
        keywords: "data dynamic each false for for_each if in locals module null output provider resource terraform true \
            variable",
        ..C_LIKE
    },
];
