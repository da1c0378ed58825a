//! The process that is the device. Its standard input is its end of a socket.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

fn main() -> std::io::Result<()> {
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    remote_backend::server::serve(UnixStream::from(socket))
}
