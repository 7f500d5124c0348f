//! How the pages look in one browser: theme, density and language. A cookie keeps the choice, so that the server renders
//! it into the first byte of a page and no page flashes in the wrong colours. The look of a request is a task-local value:
//! templates, rows and error pages know it without passing it on.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::post;
use countersign_core::Language;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;

use super::compression::VARY;
use super::form::PostedForm;
use super::page::{PageError, back, see_other};
use super::signed_in_user::{cookie, is_secure};

/// The scripts set the same cookie (`assets/prefs.js`).
const COOKIE: &str = "countersign_look";
/// The choice to follow the browser's language.
pub const SYSTEM_LANGUAGE: &str = "system";
const MAX_AGE_SECONDS: u64 = 365 * 24 * 3600;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// The theme of the operating system.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }

    pub fn is_system(self) -> bool {
        self == Self::System
    }

    pub fn may_be_light(self) -> bool {
        self != Self::Dark
    }

    pub fn may_be_dark(self) -> bool {
        self != Self::Light
    }

    /// The colour schemes that the page supports, for the canvas before the stylesheet has loaded.
    pub fn color_scheme(self) -> &'static str {
        match self {
            Self::System => "light dark",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Density {
    /// One line a row.
    #[default]
    Compact,
    Comfortable,
}

impl Density {
    pub const ALL: [Self; 2] = [Self::Compact, Self::Comfortable];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Comfortable => "comfortable",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Compact => "Compact",
            Self::Comfortable => "Comfortable",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    pub theme: Theme,
    pub density: Density,
    /// The language that the person chose; otherwise the browser's is used.
    pub chosen_language: Option<Language>,
    pub language: Language,
}

tokio::task_local! {
    static CURRENT: Look;
}

/// The look of the request that this task serves.
pub fn current() -> Look {
    CURRENT.try_with(|look| *look).unwrap_or_default()
}

/// Middleware that makes the look of each request the current one.
pub async fn with_look(request: Request, next: Next) -> Response {
    let look = Look::from_headers(request.headers());
    let mut response = CURRENT.scope(look, next.run(request)).await;
    // An asset has a `Vary` of its own: it is the same in every look.
    response.headers_mut().entry(header::VARY).or_insert(VARY);
    response
}

/// Runs `render` with this language as the current one: for what is rendered outside a request.
pub fn in_language<T>(language: Language, render: impl FnOnce() -> T) -> T {
    let look = Look {
        language,
        ..Look::default()
    };
    CURRENT.sync_scope(look, render)
}

impl Look {
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let look = cookie(headers, COOKIE).map_or_else(Self::default, Self::parse);
        let accepted = headers
            .get(header::ACCEPT_LANGUAGE)
            .and_then(|value| value.to_str().ok());
        let preferred = accepted.and_then(Language::preferred);
        Self {
            language: look.chosen_language.or(preferred).unwrap_or_default(),
            ..look
        }
    }

    /// Reads `theme.density.language`; an unknown word is the default.
    fn parse(text: &str) -> Self {
        let mut words = text.split('.');
        let mut next = || words.next().unwrap_or_default();
        let (theme, density, language) = (next(), next(), next());
        Self {
            theme: Theme::ALL
                .into_iter()
                .find(|one| one.as_str() == theme)
                .unwrap_or_default(),
            density: Density::ALL
                .into_iter()
                .find(|one| one.as_str() == density)
                .unwrap_or_default(),
            chosen_language: Language::from_code(language),
            language: Language::default(),
        }
    }

    fn set_cookie(self, hub: &Hub) -> HeaderValue {
        let secure = if is_secure(hub) { "; Secure" } else { "" };
        let text = format!(
            "{COOKIE}={}.{}.{}; Path=/; SameSite=Lax; Max-Age={MAX_AGE_SECONDS}{secure}",
            self.theme.as_str(),
            self.density.as_str(),
            self.chosen_language.map_or(SYSTEM_LANGUAGE, Language::code)
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/look", post(set_look))
}

/// POST /inbox/look: changes the theme, the density or the language, for browsers without scripts.
async fn set_look(State(hub): State<Arc<Hub>>, headers: HeaderMap, posted: PostedForm) -> Result<Response, PageError> {
    let mut look = Look::from_headers(&headers);
    if let Some(theme) = posted.fields.get("theme") {
        look.theme = Theme::ALL
            .into_iter()
            .find(|one| one.as_str() == theme)
            .ok_or_else(|| Problem::invalid("theme", "choose system, light or dark"))?;
    }
    if let Some(density) = posted.fields.get("density") {
        look.density = Density::ALL
            .into_iter()
            .find(|one| one.as_str() == density)
            .ok_or_else(|| Problem::invalid("density", "choose compact or comfortable"))?;
    }
    if let Some(language) = posted.fields.get("language") {
        let chosen = Language::from_code(language);
        if chosen.is_none() && language != SYSTEM_LANGUAGE {
            return Err(Problem::invalid("language", "choose system, en, de or zh").into());
        }
        look.chosen_language = chosen;
    }
    let mut response = see_other(back(posted.fields.text("back")));
    response.headers_mut().append(header::SET_COOKIE, look.set_cookie(&hub));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn look_is_read_from_its_cookie_and_unknown_words_are_the_default() {
        let look = |text| Look::parse(text);
        assert_eq!(
            look("dark.comfortable"),
            Look {
                theme: Theme::Dark,
                density: Density::Comfortable,
                ..Look::default()
            }
        );
        assert_eq!(look("light").theme, Theme::Light);
        assert_eq!(look("system.compact.zh").chosen_language, Some(Language::Chinese));
        for odd in ["", "purple.huge", "dark\"><script>", "."] {
            assert_eq!(look(odd), Look::default(), "{odd}");
        }
    }

    #[test]
    fn the_chosen_language_wins_over_that_of_the_browser() {
        let language = |cookie: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("de-DE,de;q=0.9"));
            headers.insert(header::COOKIE, cookie.parse().unwrap());
            Look::from_headers(&headers).language
        };
        assert_eq!(language("countersign_look=dark.compact.zh"), Language::Chinese);
        for automatic in [
            "countersign_look=dark.compact.system",
            "countersign_look=dark.compact",
            "a=b",
        ] {
            assert_eq!(language(automatic), Language::German, "{automatic}");
        }
    }
}
