//! The files that commands write. Each is made beside its place and renamed when it is whole: a
//! place has the old file or the new one, and what is no plain file is never touched.

use crate::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file that has not taken its place yet. Dropping it removes what was made, and nothing else.
#[derive(Debug)]
pub struct Output {
    /// As the user wrote it.
    shown: PathBuf,
    place: PathBuf,
    beside: PathBuf,
}

impl Output {
    /// Makes an empty file beside `place`. A link is followed, to a file that is there. Devices,
    /// pipes, folders, and files that must not be written are refused.
    pub fn beside(place: &Path) -> Result<Output, Error> {
        let told = |why: io::Error| format!("{}: {why}", place.display());
        let old = found(place).map_err(told)?;
        let whole = match old {
            Some(_) => fs::canonicalize(place),
            None => std::path::absolute(place),
        };
        let whole = whole.map_err(told)?;
        let name = whole.file_name().unwrap_or_default().to_string_lossy();
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let new = format!(".{name}.{}-{}.new", std::process::id(), time.as_nanos());
        let beside = whole.with_file_name(new);
        File::create_new(&beside).map_err(told)?;
        let output = Output { shown: place.to_owned(), place: whole, beside };
        if let Some(old) = old {
            fs::set_permissions(&output.beside, old.permissions()).map_err(told)?;
        }
        Ok(output)
    }

    /// Where the contents are to be written: a whole path.
    pub fn path(&self) -> &Path {
        &self.beside
    }

    /// Replaces the contents.
    pub fn write(&self, contents: &[u8]) -> Result<(), Error> {
        fs::write(&self.beside, contents).map_err(|why| self.told(&why))
    }

    /// Whether something has been written.
    pub fn has_contents(&self) -> bool {
        fs::metadata(&self.beside).is_ok_and(|about| about.len() > 0)
    }

    /// Takes the place. Something else may have come there meanwhile.
    pub fn finish(self) -> Result<(), Error> {
        let renamed = found(&self.place).and_then(|_| fs::rename(&self.beside, &self.place));
        renamed.map_err(|why| self.told(&why))
    }

    fn told(&self, why: &io::Error) -> Error {
        format!("{}: {why}", self.shown.display()).into()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // After `finish` no file has this name.
        let _ = fs::remove_file(&self.beside);
    }
}

/// The plain file that is at a place, if something is there.
fn found(place: &Path) -> io::Result<Option<Metadata>> {
    let refuse = |kind, why: &str| Err(io::Error::new(kind, why.to_owned()));
    match fs::metadata(place) {
        Ok(about) if !about.is_file() => {
            refuse(ErrorKind::InvalidInput, "this is no plain file, and stays as it is")
        }
        Ok(about) if about.permissions().readonly() => {
            refuse(ErrorKind::PermissionDenied, "the file is write-protected")
        }
        Ok(about) => Ok(Some(about)),
        Err(why) if why.kind() == ErrorKind::NotFound => match fs::symlink_metadata(place) {
            Ok(_) => refuse(ErrorKind::NotFound, "this is a link to a file that is not there"),
            Err(_) => Ok(None),
        },
        Err(why) => Err(why),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir();
            let folder = folder.join(format!("folio-output-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir(&folder).unwrap();
            Folder(folder)
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> =
                names.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_place_has_the_old_file_until_the_new_one_is_finished() {
        let folder = Folder::new("old");
        let place = folder.0.join("file");
        fs::write(&place, "old").unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o640)).unwrap();
        let output = Output::beside(&place).unwrap();
        output.write(b"new").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"old");
        output.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o640);
        let dropped = Output::beside(&place).unwrap();
        dropped.write(b"lost").unwrap();
        drop(dropped);
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(folder.names(), ["file"]);
    }

    #[test]
    fn what_is_no_plain_file_is_refused_and_stays() {
        let folder = Folder::new("special");
        let [socket, inner, link, none] =
            ["socket", "inner", "link", "none"].map(|name| folder.0.join(name));
        let _listening = UnixListener::bind(&socket).unwrap();
        fs::create_dir(&inner).unwrap();
        symlink(folder.0.join("nowhere"), &none).unwrap();
        symlink(&socket, &link).unwrap();
        let before = folder.names();
        for place in [&socket, &inner, &link, &none, Path::new("/dev/null")] {
            let refused = Output::beside(place).unwrap_err().to_string();
            assert!(refused.starts_with(&place.display().to_string()), "{refused}");
        }
        assert_eq!(folder.names(), before);
        // A file that came to the place after the beginning stays, too.
        let place = folder.0.join("late");
        let output = Output::beside(&place).unwrap();
        fs::create_dir(&place).unwrap();
        assert!(output.finish().is_err() && place.is_dir());
    }

    #[test]
    fn a_link_leads_to_the_file_that_is_replaced() {
        let folder = Folder::new("link");
        let (place, link) = (folder.0.join("file"), folder.0.join("link"));
        fs::write(&place, "old").unwrap();
        symlink("file", &link).unwrap();
        let output = Output::beside(&link).unwrap();
        output.write(b"new").unwrap();
        output.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&place).unwrap(), b"new");
    }
}
