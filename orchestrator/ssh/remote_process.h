#pragma once
// How a command is sent so that it can be ended from outside. Pure text, both ways.
//
// A signal over the channel is not enough: OpenSSH refuses it for root (no privilege separation
// after login), and Dropbear and others ignore it. So the shell that runs the command says its
// process id first, on standard error. sshd makes that shell the leader of a new session, so the
// id is that of its process group too, and a second channel can kill the group. That costs no
// round trip: the line comes with the first output.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::ssh {

/// The command line as it is sent.
std::string announced(std::string_view command);

/// The command line that ends the group: TERM, a second of grace, KILL. Ends when the group has.
std::string killing(long group);

/// Takes the announcement out of standard error, and leaves the rest exactly as it was.
class Announcement {
 public:
  /// What is to be passed on of this piece.
  std::string take(std::string_view piece);

  /// What was still held back when the stream ended.
  std::string rest() { return std::move(held_); }

  std::optional<long> group() const { return group_; }

 private:
  std::string held_;  // an unfinished line, as long as the announcement has not come
  std::optional<long> group_;
};

}  // namespace cupel::ssh
