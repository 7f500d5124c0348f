//! How the pages look in one browser: theme and density. A cookie keeps the choice, so that the server renders it into
//! the first byte of a page and no page flashes in the wrong colours.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use axum::routing::post;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;

use super::form::PostedForm;
use super::page::{PageError, back, see_other};
use super::signed_in_user::{cookie, is_secure};

/// The scripts set the same cookie (`assets/prefs.js`).
const COOKIE: &str = "countersign_look";
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
}

impl Look {
    pub fn from_headers(headers: &HeaderMap) -> Self {
        cookie(headers, COOKIE).map_or_else(Self::default, Self::parse)
    }

    /// Reads `theme.density`; an unknown word is the default.
    fn parse(text: &str) -> Self {
        let (theme, density) = text.split_once('.').unwrap_or((text, ""));
        Self {
            theme: Theme::ALL
                .into_iter()
                .find(|one| one.as_str() == theme)
                .unwrap_or_default(),
            density: Density::ALL
                .into_iter()
                .find(|one| one.as_str() == density)
                .unwrap_or_default(),
        }
    }

    fn set_cookie(self, hub: &Hub) -> HeaderValue {
        let Self { theme, density } = self;
        let secure = if is_secure(hub) { "; Secure" } else { "" };
        let text = format!(
            "{COOKIE}={}.{}; Path=/; SameSite=Lax; Max-Age={MAX_AGE_SECONDS}{secure}",
            theme.as_str(),
            density.as_str()
        );
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/look", post(set_look))
}

/// POST /inbox/look: changes the theme, the density or both, for browsers without scripts.
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
                density: Density::Comfortable
            }
        );
        assert_eq!(look("light").theme, Theme::Light);
        for odd in ["", "purple.huge", "dark\"><script>", "."] {
            assert_eq!(look(odd), Look::default(), "{odd}");
        }
    }
}
