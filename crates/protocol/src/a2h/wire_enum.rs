//! Enums that are a fixed set of words on the wire.

/// An enum whose variants are words on the wire.
pub trait WireEnum: Sized + Copy + 'static {
    const WORDS: &'static [&'static str];

    fn from_word(word: &str) -> Option<Self>;
}

/// Declares the enum, its serde names, `as_str` and `FromStr` from one list, so that they stay in sync.
#[macro_export]
macro_rules! wire_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$case:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $($(#[$case])* #[serde(rename = $word)] $variant),+
        }

        impl $name {
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl $crate::a2h::wire_enum::WireEnum for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::a2h::wire_enum::UnknownValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                <Self as $crate::a2h::wire_enum::WireEnum>::from_word(text).ok_or($crate::a2h::wire_enum::UnknownValue)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(super) use wire_enum;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown value")]
pub struct UnknownValue;
