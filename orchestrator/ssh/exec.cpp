#include "orchestrator/ssh/exec.h"

#include "base/text.h"

namespace cupel::ssh {
namespace {

/// As much as is given to libssh at once: it keeps a copy of what the socket does not take.
constexpr std::size_t kWriteAtOnce = 256 * 1024;

}  // namespace

Exec::Exec(Link& link, Sink sink)
    : link_{link}, sink_{std::move(sink)}, channel_{ssh_channel_new(link.session())} {
  ssh_callbacks_init(&callbacks_);
  callbacks_.userdata = this;
  callbacks_.channel_data_function = on_data;
  callbacks_.channel_exit_status_function = on_exit;
  callbacks_.channel_exit_signal_function = on_signal;
  callbacks_.channel_close_function = on_close;
  ssh_set_channel_callbacks(channel_.get(), &callbacks_);
}

Exec::~Exec() { ssh_remove_channel_callbacks(channel_.get(), &callbacks_); }

int Exec::on_data(ssh_session, ssh_channel, void* data, std::uint32_t length, int is_stderr,
                  void* self) {
  auto& exec = *static_cast<Exec*>(self);
  const std::string_view piece{static_cast<const char*>(data), length};
  if (is_stderr == 0) {
    exec.sink_(Stream::out, piece);
  } else {
    const auto passed = exec.announcement_.take(piece);
    if (!passed.empty()) exec.sink_(Stream::err, passed);
  }
  return static_cast<int>(length);
}

void Exec::on_exit(ssh_session, ssh_channel, int status, void* self) {
  static_cast<Exec*>(self)->exit_status_ = status;
}

void Exec::on_signal(ssh_session, ssh_channel, const char* signal, int, const char*, const char*,
                     void* self) {
  static_cast<Exec*>(self)->exit_signal_ = printable(signal);
}

void Exec::on_close(ssh_session, ssh_channel, void* self) {
  static_cast<Exec*>(self)->closed_ = true;
}

Task<Result<void>> Exec::start(std::string command) {
  if (stage_ == Stage::opening) {
    const auto open = [this] { return ssh_channel_open_session(channel_.get()); };
    CO_TRY(const int opened, co_await link_.settle(open, SSH_AGAIN));
    if (opened != SSH_OK && !link_.alive()) co_return link_.broken("open a channel");
    if (opened != SSH_OK)
      co_return Error{Code::kRefused, "the node opens no channel: " + link_.broken("").what};
    stage_ = Stage::asking;
  }
  if (stage_ == Stage::asking) {
    const auto ask = [this, &command] {
      return ssh_channel_request_exec(channel_.get(), command.c_str());
    };
    CO_TRY(const int asked, co_await link_.settle(ask, SSH_AGAIN));
    if (asked != SSH_OK && !link_.alive()) co_return link_.broken("start a command");
    if (asked != SSH_OK) co_return Error{Code::kRefused, "the node starts no command"};
    stage_ = Stage::running;
  }
  co_return ok();
}

bool Exec::write_some(std::string_view& input) {
  if (input_ended_) return false;
  if (input.empty()) {
    input_ended_ = true;
    ssh_channel_send_eof(channel_.get());
    return true;
  }
  const auto piece = input.substr(0, kWriteAtOnce);
  const int taken =
      ssh_channel_write(channel_.get(), piece.data(), static_cast<std::uint32_t>(piece.size()));
  if (taken <= 0) return false;
  input.remove_prefix(static_cast<std::size_t>(taken));
  return true;
}

Task<Result<CommandOutcome>> Exec::finish(std::string_view input) {
  while (!closed_) {
    const bool wrote = write_some(input);
    const bool read = link_.pump();
    if (closed_) break;
    if (!link_.alive()) co_return link_.broken("connection lost while the command ran");
    if (!wrote && !read) {
      CO_TRY(co_await link_.ready());
    }
  }
  co_return outcome();
}

Task<Result<std::optional<long>>> Exec::wait_until_known() {
  while (!closed_ && !announcement_.group()) {
    const bool read = link_.pump();
    if (!link_.alive()) co_return link_.broken("connection lost while the command ran");
    if (!read && !closed_ && !announcement_.group()) {
      CO_TRY(co_await link_.ready());
    }
  }
  co_return closed_ ? std::nullopt : announcement_.group();
}

Result<CommandOutcome> Exec::outcome() {
  const auto rest = announcement_.rest();
  if (!rest.empty()) sink_(Stream::err, rest);
  if (!exit_status_ && exit_signal_.empty())
    return Error{Code::kMalformed, "the command ended without a status"};
  return CommandOutcome{exit_status_.value_or(255), exit_signal_};
}

void Exec::signal(const char* name) { ssh_channel_request_send_signal(channel_.get(), name); }

}  // namespace cupel::ssh
