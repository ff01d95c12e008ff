#pragma once
// The Redfish service of one virtual BMC: a request in, an answer out, on the machine's loop. Who
// may ask, what is where, what may be changed. No sockets: server.h. Source: DSP0266 1.15.
#include <functional>
#include <optional>
#include <string>

#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"
#include "rehearsal/bmc/sessions.h"

namespace cupel::rehearsal {

struct BmcAccount {
  std::string user;
  std::string password;
};

class BmcService {
 public:
  static constexpr std::size_t kMostSessions = 8;
  static constexpr std::chrono::minutes kSessionTimeout{30};

  /// `machine` must outlive it.
  BmcService(Machine& machine, BmcAccount account);

  /// Never fails: what is wrong with the request is in the answer's status.
  HttpResponse handle(const HttpRequest& request);

  /// Called after the answer to Manager.Reset: sessions are gone, and so is whoever listens.
  std::function<void()> on_restart{};

  std::uint64_t requests() const { return requests_; }
  std::uint64_t refused_logins() const { return refused_; }
  std::size_t open_sessions() { return sessions_.all().size(); }

 private:
  std::optional<HttpResponse> busy();
  HttpResponse routed(const HttpRequest& request, const std::string& path);
  bool accepts(const std::string& user, const std::string& password) const;
  bool knows(const HttpRequest& request);
  HttpResponse log_in(const HttpRequest& request);
  HttpResponse log_out(const std::string& path);
  HttpResponse read(const std::string& path);
  HttpResponse act(const HttpRequest& request, const std::string& path);
  HttpResponse restart_manager(const HttpRequest& request);
  void add_sessions(ResourceTree& tree);

  Machine& machine_;
  BmcAccount account_;
  BmcSessions sessions_{kMostSessions, kSessionTimeout};
  std::optional<VirtualTime> first_asked_{};
  std::uint64_t requests_ = 0;
  std::uint64_t refused_ = 0;
};

// What may be changed about a System. Each checks before it acts.

/// ComputerSystem.Reset: 204; 400 for a body or a type that is none; 409 where the machine's state
/// forbids it.
HttpResponse reset_system(Machine& machine, const HttpRequest& request);

/// PATCH of a System: its Boot alone. 204; 400 with the property that is wrong, and then nothing
/// was changed.
HttpResponse patch_system(Machine& machine, const HttpRequest& request);

/// What If-Match is compared with; weak, as it is made of the meaning.
std::string etag_of(const json::object& resource);

}  // namespace cupel::rehearsal
