#pragma once
// The Redfish service of one virtual BMC: a request in, an answer out, on the machine's loop. Who
// may ask, what is where, what may be changed, and how its vendor puts it. No sockets: server.h.
// Source: DSP0266 1.15.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/bmc/change.h"
#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"
#include "rehearsal/bmc/sessions.h"

namespace cupel::rehearsal {

struct BmcAccount {
  std::string user;
  std::string password;
};

/// What to do to the next requests that fit, instead of, or besides, answering them properly.
struct Rule {
  std::string method{};               // empty: any
  std::string path{};                 // * stands for anything; empty: any
  int times = 1;                      // 0: always
  int skip = 0;                       // let so many that fit pass first
  int status = 0;                     // 0: as it is answered properly
  std::optional<std::string> body{};  // instead of the proper one
  json::object merge{};               // into the proper one (RFC 7396)
  std::map<std::string, std::string> headers{};
  std::chrono::milliseconds late{0};  // of our time
  bool cut = false;                   // the connection, without an answer and without effect
};

class BmcService {
 public:
  static constexpr std::size_t kMostSessions = 8;  // of a DGX
  static constexpr std::chrono::minutes kSessionTimeout{30};
  static constexpr std::size_t kMostRules = 256;
  static constexpr VirtualTime kRestart{90};  // a BMC's own boot

  /// `machine` must outlive it.
  BmcService(Machine& machine, BmcAccount account, BmcSpec spec = {});
  BmcService(const BmcService&) = delete;
  BmcService& operator=(const BmcService&) = delete;
  ~BmcService();

  /// Never fails: what is wrong with the request is in the answer's status.
  HttpResponse handle(const HttpRequest& request);

  /// The first rule that fits a request is used. More than kMostRules are not kept.
  void misbehave(Rule rule);

  /// Called after the answer to Manager.Reset: sessions are gone, and so is whoever listens.
  std::function<void()> on_restart{};
  /// The BMC has booted: it is busy for as long as its vendor's are from now on.
  void restarted() { restarted_ = machine_.clock().elapsed() - kRestart; }

  const Manners& manners() const { return state_.manners; }
  const BmcState& state() const { return state_; }
  BmcState& state() { return state_; }
  BmcView view() const { return {machine_, state_}; }
  /// Writes it into the log, with the time of the BMC's clock, and tells whoever listens.
  void note(LogLine line);

  std::uint64_t requests() const { return requests_; }
  std::uint64_t refused_logins() const { return refused_; }
  std::size_t open_sessions() { return sessions_.all().size(); }

 private:
  struct Active {
    Rule rule;
    int met = 0;
  };

  Active* rule_for(const HttpRequest& request, const std::string& path);
  void take_faults();
  void on(Machine::Event event);
  std::optional<HttpResponse> busy();
  HttpResponse answered(const HttpRequest& request, const std::string& path);
  HttpResponse routed(const HttpRequest& request, const std::string& path);
  bool accepts(const std::string& user, const std::string& password);
  std::string asker(const HttpRequest& request);
  std::optional<HttpResponse> not_yet(const HttpRequest& request, const std::string& path,
                                      const std::string& user);
  HttpResponse log_in(const HttpRequest& request);
  HttpResponse log_out(const std::string& path);
  HttpResponse stream();
  HttpResponse act(const HttpRequest& request, const std::string& path);
  HttpResponse change(const Route& route, const HttpRequest& request, const std::string& path,
                      const json::object* resource);
  void restart();
  ResourceTree tree(const HttpRequest& request, const std::string& path);

  Machine& machine_;
  BmcState state_;
  BmcSessions sessions_;
  std::vector<Active> rules_, fault_rules_;
  std::vector<Fault> known_faults_;
  std::optional<VirtualTime> first_asked_{}, restarted_{};
  std::uint64_t requests_ = 0, refused_ = 0;
  int good_requests_ = 0, good_tags_ = 0;
  std::shared_ptr<BmcService*> alive_;  // for the machine, which keeps its listeners
};

}  // namespace cupel::rehearsal
