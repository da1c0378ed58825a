//! Scenes: what a test does in a process of its own, since it changes the process or ends it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::{Command, Output};

/// Set in a process that plays a scene: the test's name.
const SCENE: &str = "FOLIO_TEST_SCENE";

/// True in the process that plays the scene of the test `name`.
fn is_playing(name: &str) -> bool {
    std::env::var(SCENE).is_ok_and(|playing| playing == name)
}

/// Plays `scene` in a process of its own, which is the test `name` (with its module) again.
/// Variables with `None` are removed there. The process ends with the scene, with status 0.
pub(crate) fn play(name: &str, variables: &[(&str, Option<&str>)], scene: impl FnOnce()) -> Output {
    if is_playing(name) {
        scene();
        std::process::exit(0);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture"]).env(SCENE, name);
    for (variable, value) in variables {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    command.output().unwrap()
}

/// Folio's messages on the standard error of a scene, line by line.
pub(crate) fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().filter(|line| line.starts_with("folio: ")).map(str::to_owned).collect()
}
