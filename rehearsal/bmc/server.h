#pragma once
// One BMC's HTTPS: service.h behind https_server.h, with what happens to a BMC as a whole: faults,
// power, restarts. There whether the machine is on or off. Everything on the rack's loop.
#include "rehearsal/bmc/https_server.h"
#include "rehearsal/bmc/several_systems.h"

namespace cupel::rehearsal {

class BmcServer : private WebService {
 public:
  static constexpr VirtualTime kRestart = BmcService::kRestart;

  /// `machine` must outlive it.
  BmcServer(asio::any_io_executor executor, ManagedSystem& machine, BmcAccount account,
            Certificate certificate, asio::ip::tcp::endpoint endpoint, BmcSpec spec = {});
  BmcServer(const BmcServer&) = delete;
  BmcServer& operator=(const BmcServer&) = delete;
  ~BmcServer() override;

  /// Listens from now on; a port of 0 becomes a number. Errors: kConflict, kFailed.
  Result<void> listen();
  /// In place of listen(): its machine is one more System of that BMC, and it has no port of its
  /// own. `first` must outlive this, or be stopped before it.
  void join(BmcServer& first);
  std::uint16_t port() const { return first_ != nullptr ? first_->port() : https_.port(); }
  BmcService& service() { return service_; }
  const Certificate& certificate() const { return https_.certificate(); }
  std::size_t connections() const { return https_.connections(); }
  /// Requests that were being answered at the same time, at most; streams are not counted.
  int most_at_once() const { return https_.most_at_once(); }

  /// Away in a moment, and back when a BMC has booted. service().on_restart calls it.
  void restart();

  /// Closes everything. Its coroutines end when the loop next runs.
  void stop();

 private:
  HttpResponse handle(const HttpRequest& request) override { return systems_.handle(request); }
  std::unique_ptr<BodySink> sink_of(const HttpRequest& head) override {
    return service_.sink_of(head);
  }
  bool hung() const override;
  bool disguised() const override;
  ConnectionHabits habits() const override;
  void close();
  void look_at_faults();

  ManagedSystem& machine_;
  BmcService service_;
  SeveralSystems systems_{service_};
  BmcServer* first_ = nullptr;
  HttpsServer https_;
  asio::steady_timer parting_timer_;  // of our time: the answer still goes out
  RackTimer restart_timer_;
  bool stopped_ = false, dead_ = false;
};

}  // namespace cupel::rehearsal
