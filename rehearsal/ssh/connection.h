#pragma once
// One SSH connection: libssh's non-blocking server side, woken by the socket and by the processes
// behind its channels. It never waits.
#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <list>

#include "rehearsal/ssh/server.h"

namespace cupel::rehearsal {

class SshConnection : public std::enable_shared_from_this<SshConnection> {
 public:
  SshConnection(SshServer& server, ssh_session session);
  ~SshConnection();

  void start();
  /// At once, with everything; processes notice by their pipes, as under a real sshd.
  void cut();

 private:
  static constexpr std::size_t kMostChannels = 10;  // OpenSSH's MaxSessions
  static constexpr std::size_t kMostInput = 64u << 20;
  static constexpr int kMostTries = 6;

  struct Channel {
    SshConnection* connection = nullptr;
    ssh_channel channel = nullptr;
    ssh_channel_callbacks_struct callbacks{};
    std::shared_ptr<Pipe> in = std::make_shared<Pipe>();
    std::shared_ptr<Pipe> out = std::make_shared<Pipe>();
    std::shared_ptr<Pipe> err = std::make_shared<Pipe>();
    std::map<std::string, std::string> environment{};
    ProcessPtr process{};
    std::optional<int> status{};
    bool closed = false;  // by either side; nothing more is written

    int run(std::string command);
    void hang_up();
  };

  void step();
  void watch();
  void wake();
  bool advance();
  void pump(Channel& channel);
  bool drain(Channel& channel, Pipe& pipe, bool error);
  ssh_channel new_channel();
  void listen_to(Channel& channel);

  SshServer& server_;
  ssh_session session_;
  ssh_event event_ = nullptr;
  ssh_server_callbacks_struct callbacks_{};
  asio::posix::stream_descriptor descriptor_;
  asio::steady_timer login_timer_;
  RackTimer drop_timer_;
  std::list<Channel> channels_;
  enum class Phase { exchange, running, dead } phase_ = Phase::exchange;
  bool authenticated_ = false;
  bool reading_ = false, writing_ = false, woken_ = false;
  int tries_ = 0;
};

}  // namespace cupel::rehearsal
