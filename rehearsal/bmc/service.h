#pragma once
// The Redfish service of one virtual BMC: a request in, an answer out, on the machine's loop. Who
// may ask, what is where, what may be changed, and how its vendor puts it. No sockets: server.h.
// Source: DSP0266 1.15.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rehearsal/bmc/change.h"
#include "rehearsal/bmc/image_fetch.h"
#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"
#include "rehearsal/bmc/sessions.h"
#include "rehearsal/rack_timer.h"
#include "rehearsal/rules.h"

namespace cupel::rehearsal {

struct BmcAccount {
  std::string user;
  std::string password;
};

/// A vendor's BMC whose only System has a name of its own.
struct SystemBehavior {
  std::string system;
  VendorBehavior behavior;
};

class BmcService {
 public:
  static constexpr std::size_t kMostSessions = 8;  // of a DGX
  static constexpr std::chrono::minutes kSessionTimeout{30};
  static constexpr VirtualTime kRestart{90};  // a BMC's own boot

  /// `machine` must outlive it.
  BmcService(ManagedSystem& machine, BmcAccount account, BmcSpec spec = {});
  BmcService(const BmcService&) = delete;
  BmcService& operator=(const BmcService&) = delete;
  ~BmcService();

  /// Never fails: what is wrong with the request is in the answer's status.
  HttpResponse handle(const HttpRequest& request);
  /// Who takes the image of an upload, piece by piece; nullptr: the request is none. Must not
  /// outlive the loop.
  std::unique_ptr<BodySink> sink_of(const HttpRequest& head);

  /// What it does otherwise than it should, from the next request on.
  RuleSet& rules() { return rules_; }

  /// Called after the answer to Manager.Reset: sessions are gone, and so is whoever listens.
  std::function<void()> on_restart{};
  /// Called whenever faults came or went.
  std::function<void()> on_faults = [] {};
  /// Nothing happens by itself after this.
  void stop() {
    update_timer_.cancel();
    reset_timer_.cancel();
  }
  /// The BMC has booted: it is busy for as long as its vendor's are from now on.
  void restarted() {
    restarted_ = machine_.clock().elapsed() - kRestart;
    warm_.clear();
  }

  /// Who may ask is up to that BMC: this is another System of it. `first` must outlive this.
  void log_in_at(BmcService& first) { logins_ = &first; }

  const VendorBehavior& behavior() const { return state_.behavior; }
  const BmcState& state() const { return state_; }
  BmcState& state() { return state_; }
  BmcView view() const { return {machine_, state_}; }
  /// Writes it into the log, with the time of the BMC's clock, and tells whoever listens.
  void note(LogLine line);

  std::uint64_t requests() const { return requests_; }
  std::uint64_t refused_logins() const { return refused_; }
  std::size_t open_sessions() { return sessions_.all().size(); }

 private:
  void take_faults();
  void take_settings();
  void on(ManagedSystem::Event event);
  std::optional<HttpResponse> busy();
  HttpResponse ruled(const Rule& rule, const HttpRequest& request, const std::string& path);
  HttpResponse answered(const HttpRequest& request, const std::string& path);
  HttpResponse routed(const HttpRequest& request, const std::string& path);
  bool accepts(const std::string& user, const std::string& password);
  std::string asker(const HttpRequest& request);
  std::optional<HttpResponse> not_yet(const HttpRequest& request, const std::string& path,
                                      const std::string& user);
  HttpResponse log_in(const HttpRequest& request);
  HttpResponse stream();
  class Upload;
  Change change_of(const HttpRequest& request, const std::string& path,
                   const ReceivedBody& received);
  void fetch(const std::string& id, const LoopbackUri& from, UpdateRequest request);
  static Task<void> bring(std::weak_ptr<BmcService*> service, std::string id, LoopbackUri from,
                          std::shared_ptr<UpdateRequest> request, std::size_t limit);
  void brought(const std::string& id, UpdateRequest request, Result<ReceivedImage> image);
  bool survives(std::size_t before, std::size_t now);
  std::string methods_at(const std::string& path) const;
  HttpResponse act(const HttpRequest& request, const std::string& path);
  HttpResponse change(const Route& route, const HttpRequest& request, const std::string& path,
                      const json::object* resource);
  void restart();
  void drained(VirtualTime now);
  UpdateWorld updates_world();
  void settle();
  std::chrono::milliseconds thinking(const HttpRequest& request, const std::string& path);
  void expect_next();
  void expect_reset();
  void meet(const Fault& fault);
  std::optional<HttpResponse> monitored(const HttpRequest& request, const std::string& path);
  std::optional<HttpResponse> of_dump(const HttpRequest& request, const std::string& path);
  ResourceTree tree(const HttpRequest& request, const std::string& path);

  ManagedSystem& machine_;
  BmcService* logins_ = this;  // where accounts and sessions are
  std::unique_ptr<const SystemBehavior> own_behavior_;
  BmcState state_;
  BmcSessions sessions_;
  RuleSet rules_;
  std::vector<Fault> known_faults_;
  std::optional<VirtualTime> first_asked_{}, restarted_{};
  std::uint64_t requests_ = 0, refused_ = 0;
  bool had_mains_ = true;
  int good_requests_ = 0, good_tags_ = 0;
  std::map<std::string, int> asked_;  // how often, by method and path
  std::set<std::string> warm_;        // of them, since the BMC has booted
  UpdateWorld updates_world_;
  RackTimer update_timer_, reset_timer_;
  std::shared_ptr<BmcService*> alive_;  // for the machine, which keeps its listeners
};

}  // namespace cupel::rehearsal
