//! Enums whose members have names in the text form.

/// Declares an enum together with the names of its members.
macro_rules! names {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $member:ident = $text:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $(#[$doc])* $member),*
        }

        impl $name {
            /// All members.
            pub const ALL: &[$name] = &[$($name::$member),*];

            /// The name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($name::$member => $text),* }
            }

            /// The member with this name.
            pub fn of_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$member),)* _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use names;
