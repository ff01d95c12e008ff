#pragma once
// One command on one channel of a link: started, fed, listened to, ended.
#include <optional>
#include <string>

#include "orchestrator/ssh/link.h"
#include "orchestrator/ssh/remote_process.h"
#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

/// Each step may be called again after it was cancelled, and goes on where it was.
class Exec {
 public:
  Exec(Link& link, Sink sink);
  ~Exec();
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  /// Opens the channel and starts the command. Errors: kUnreachable, kCancelled, kRefused where the
  /// node opens no channel or starts nothing on it.
  Task<Result<void>> start(std::string command);

  /// Writes `input` and the end of it, and hands the output on until the command has ended.
  /// Errors: kUnreachable, kCancelled, kMalformed where it ended without a status.
  Task<Result<CommandOutcome>> finish(std::string_view input);

  /// Goes on until the command has said its process group, or has ended. Errors: as finish().
  Task<Result<std::optional<long>>> wait_until_known();

  /// True from the moment in which the node may have started the command.
  bool asked() const { return stage_ >= Stage::asking; }

  /// Asks the node's SSH server for a signal. Nothing comes back.
  void signal(const char* name);

 private:
  enum class Stage { opening, asking, running };

  static int on_data(ssh_session, ssh_channel, void* data, std::uint32_t length, int is_stderr,
                     void* self);
  static void on_exit(ssh_session, ssh_channel, int status, void* self);
  static void on_signal(ssh_session, ssh_channel, const char* signal, int core, const char* message,
                        const char* language, void* self);
  static void on_close(ssh_session, ssh_channel, void* self);

  bool write_some(std::string_view& input);
  Result<CommandOutcome> outcome();

  Link& link_;
  Sink sink_;
  Announcement announcement_;
  ssh_channel_callbacks_struct callbacks_{};
  Channel channel_;
  Stage stage_ = Stage::opening;
  bool input_ended_ = false;
  bool closed_ = false;
  std::optional<int> exit_status_;
  std::string exit_signal_;
};

}  // namespace cupel::ssh
