#include "rehearsal/ssh/connection.h"

#include <fcntl.h>

#include <boost/asio/post.hpp>

namespace cupel::rehearsal {

SshConnection::SshConnection(SshServer& server, ssh_session session)
    : server_{server},
      session_{session},
      // Of our own: libssh closes its one whenever it likes, and the number may be anybody's then.
      descriptor_{server.executor_, ::fcntl(ssh_get_fd(session), F_DUPFD_CLOEXEC, 0)},
      login_timer_{server.executor_},
      drop_timer_{server.executor_, server.host_.machine().clock()} {
  ssh_set_blocking(session_, 0);
}

SshConnection::~SshConnection() { cut(); }

void SshConnection::start() {
  callbacks_.userdata = this;
  callbacks_.auth_pubkey_function = [](ssh_session, const char*, ssh_key_struct* key, char state,
                                       void* user) -> int {
    auto& self = *static_cast<SshConnection*>(user);
    const bool known = ssh_key_cmp(key, self.server_.authorized_.get(), SSH_KEY_CMP_PUBLIC) == 0;
    if (!known) {
      ++self.tries_;
      return SSH_AUTH_DENIED;
    }
    // NONE: the client only asks whether this key would do (RFC 4252, 7).
    if (state == SSH_PUBLICKEY_STATE_NONE) return SSH_AUTH_SUCCESS;
    if (state != SSH_PUBLICKEY_STATE_VALID) return SSH_AUTH_DENIED;
    self.authenticated_ = true;
    return SSH_AUTH_SUCCESS;
  };
  callbacks_.channel_open_request_session_function = [](ssh_session, void* user) -> ssh_channel {
    return static_cast<SshConnection*>(user)->new_channel();
  };
  ssh_callbacks_init(&callbacks_);
  ssh_set_server_callbacks(session_, &callbacks_);
  ssh_set_auth_methods(session_, SSH_AUTH_METHOD_PUBLICKEY);
  event_ = ssh_event_new();

  const auto weak = weak_from_this();
  login_timer_.expires_after(std::chrono::seconds{30});
  login_timer_.async_wait([weak](boost::system::error_code stopped) {
    const auto self = weak.lock();
    if (!stopped && self && !self->authenticated_) self->cut();
  });
  auto& machine = server_.host_.machine();
  if (const auto* drops = find_fault(machine.faults(), FaultKind::ssh_drops)) {
    drop_timer_.start(drops->span.value_or(VirtualTime{60}), [weak] {
      if (const auto self = weak.lock()) self->cut();
    });
  }
  step();
}

void SshConnection::cut() {
  if (phase_ == Phase::dead) return;
  phase_ = Phase::dead;
  login_timer_.cancel();
  drop_timer_.cancel();
  for (auto& channel : channels_) channel.hang_up();
  boost::system::error_code ignored;
  descriptor_.close(ignored);
  if (event_) {
    ssh_event_remove_session(event_, session_);
    ssh_event_free(event_);
    event_ = nullptr;
  }
  ssh_silent_disconnect(session_);
  ssh_free(session_);
  session_ = nullptr;
  if (const auto self = weak_from_this().lock()) server_.forget(self);
}

/// As far as it goes now. False where the connection is over.
bool SshConnection::advance() {
  if (phase_ == Phase::exchange) {
    const int exchanged = ssh_handle_key_exchange(session_);
    if (exchanged == SSH_ERROR) return false;
    if (exchanged == SSH_OK) {
      phase_ = Phase::running;
      if (ssh_event_add_session(event_, session_) != SSH_OK) return false;
    }
  }
  if (phase_ == Phase::running && ssh_event_dopoll(event_, 0) == SSH_ERROR) return false;
  if (tries_ >= kMostTries) return false;
  for (auto& channel : channels_) pump(channel);
  std::erase_if(channels_, [](const Channel& channel) {
    return channel.closed && !channel.channel && (!channel.process || channel.status);
  });
  return (ssh_get_status(session_) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

void SshConnection::step() {
  if (phase_ == Phase::dead) return;
  const auto self = shared_from_this();
  if (advance())
    watch();
  else
    cut();
}

void SshConnection::watch() {
  const auto weak = weak_from_this();
  const auto ready = [weak](bool SshConnection::* flag) {
    return [weak, flag](boost::system::error_code stopped) {
      const auto self = weak.lock();
      if (!self) return;
      (*self).*flag = false;
      if (!stopped) self->step();
    };
  };
  using Wait = asio::posix::stream_descriptor::wait_type;
  if (!std::exchange(reading_, true))
    descriptor_.async_wait(Wait::wait_read, ready(&SshConnection::reading_));
  const bool pending = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
  if (pending && !std::exchange(writing_, true))
    descriptor_.async_wait(Wait::wait_write, ready(&SshConnection::writing_));
}

/// Soon, and once, however many processes have something to say.
void SshConnection::wake() {
  if (phase_ == Phase::dead || std::exchange(woken_, true)) return;
  asio::post(server_.executor_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->woken_ = false;
    self->step();
  });
}

ssh_channel SshConnection::new_channel() {
  if (channels_.size() >= kMostChannels) return nullptr;
  auto& channel = channels_.emplace_back();
  channel.connection = this;
  channel.channel = ssh_channel_new(session_);
  if (channel.channel) listen_to(channel);
  return channel.channel;
}

void SshConnection::listen_to(Channel& channel) {
  auto& callbacks = channel.callbacks;
  callbacks.userdata = &channel;
  callbacks.channel_exec_request_function = [](ssh_session, ssh_channel, const char* command,
                                               void* user) {
    return static_cast<Channel*>(user)->run(command);
  };
  callbacks.channel_shell_request_function = [](ssh_session, ssh_channel, void* user) {
    return static_cast<Channel*>(user)->run("exec sh -s");
  };
  callbacks.channel_pty_request_function = [](ssh_session, ssh_channel, const char*, int, int, int,
                                              int, void*) { return -1; };
  callbacks.channel_env_request_function = [](ssh_session, ssh_channel, const char* name,
                                              const char* value, void* user) {
    auto& environment = static_cast<Channel*>(user)->environment;
    const std::string_view key{name};
    // As AcceptEnv in Debian's sshd_config has it.
    if (environment.size() >= 32 || !(key == "LANG" || key.starts_with("LC_"))) return 1;
    environment[name] = value;
    return 0;
  };
  callbacks.channel_data_function = [](ssh_session, ssh_channel, void* data, std::uint32_t size,
                                       int, void* user) -> int {
    auto& self = *static_cast<Channel*>(user);
    if (!self.in->reader_gone && self.in->queue.size() < kMostInput) {
      self.in->queue.append(static_cast<const char*>(data), size);
      self.in->changed();
    }
    return static_cast<int>(size);
  };
  callbacks.channel_eof_function = [](ssh_session, ssh_channel, void* user) {
    auto& self = *static_cast<Channel*>(user);
    self.in->writer_gone = true;
    self.in->changed();
  };
  callbacks.channel_close_function = [](ssh_session, ssh_channel, void* user) {
    auto& self = *static_cast<Channel*>(user);
    self.hang_up();
    self.connection->wake();
  };
  callbacks.channel_signal_function = [](ssh_session, ssh_channel, const char* name, void* user) {
    auto& self = *static_cast<Channel*>(user);
    const auto number = signal_number(name);
    if (self.process && number) self.process->host.signal(-self.process->number, *number);
  };
  ssh_callbacks_init(&callbacks);
  ssh_set_channel_callbacks(channel.channel, &callbacks);
}

int SshConnection::Channel::run(std::string command) {
  if (process || closed) return 1;
  auto& server = connection->server_;
  const auto weak = connection->weak_from_this();
  const auto soon = [weak] {
    if (const auto self = weak.lock()) self->wake();
  };
  out->on_data = err->on_data = soon;
  auto* self = this;
  // The channel lives as long as its process: advance() sees to that.
  process = server.host_.run(std::move(command), pipe_reader(in), pipe_writer(out),
                             pipe_writer(err), environment, [weak, self](int ended) {
                               const auto alive = weak.lock();
                               if (!alive || alive->phase_ == Phase::dead) return;
                               self->status = ended;
                               alive->wake();
                             });
  return process ? 0 : 1;
}

void SshConnection::Channel::hang_up() {
  closed = true;
  in->writer_gone = true;
  in->changed();
  for (const auto& pipe : {out, err}) {
    pipe->reader_gone = true;
    pipe->on_data = nullptr;
    pipe->queue.clear();
    pipe->changed();
  }
}

/// True once all has been handed to the other side and nothing more can come.
bool SshConnection::drain(Channel& channel, Pipe& pipe, bool error) {
  while (!pipe.queue.empty() && !channel.closed) {
    const auto window = ssh_channel_window_size(channel.channel);
    if (window == 0) return false;
    const auto size =
        static_cast<std::uint32_t>(std::min<std::size_t>({pipe.queue.size(), window, 32768}));
    const auto piece = pipe.queue.substr(0, size);
    const int written = error ? ssh_channel_write_stderr(channel.channel, piece.data(), size)
                              : ssh_channel_write(channel.channel, piece.data(), size);
    if (written <= 0) return false;
    pipe.queue.erase(0, static_cast<std::size_t>(written));
    pipe.changed();
  }
  return pipe.queue.empty() && pipe.writer_gone;
}

void SshConnection::pump(Channel& channel) {
  if (!channel.channel) return;
  if (channel.closed) {
    // libssh keeps a channel until the other side has closed it too, and would still call us.
    ssh_remove_channel_callbacks(channel.channel, &channel.callbacks);
    ssh_channel_free(channel.channel);
    channel.channel = nullptr;
    return;
  }
  if (!channel.process) return;
  const bool out_done = drain(channel, *channel.out, false);
  const bool err_done = drain(channel, *channel.err, true);
  if (channel.closed || !channel.status || !out_done || !err_done) return;
  if (channel.process->fatal() != 0) {
    const auto name = signal_name(channel.process->fatal());
    ssh_channel_request_send_exit_signal(channel.channel, name.c_str(), 0, "", "");
  } else {
    ssh_channel_request_send_exit_status(channel.channel, *channel.status);
  }
  ssh_channel_send_eof(channel.channel);
  ssh_channel_close(channel.channel);
  channel.hang_up();
}

}  // namespace cupel::rehearsal
