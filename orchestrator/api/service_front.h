#pragma once
// The controller's front where a service stands behind it: no terminal; each event wakes the
// streams.
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "orchestrator/api/event_streams.h"
#include "orchestrator/controller/front.h"

namespace cupel::api {

class ServiceFront final : public controller::Front {
 public:
  ServiceFront(Bell& bell, WaitingWords& waiting, std::function<void()> reload)
      : bell_{bell}, waiting_{waiting}, reload_{std::move(reload)} {}

  std::unique_ptr<controller::RunView> view(const playbooks::Plan& plan, engine::RunId run,
                                            controller::Origin origin) override;
  // What is announced and refused, the controller has logged.
  void announce(controller::Weight, const std::string&) override { bell_.ring(); }
  void refuse(engine::RunId, const std::string&) override { bell_.ring(); }
  void outlast(engine::RunId, const std::vector<engine::RunId>&) override {}
  void tick() override { beat_ = std::chrono::steady_clock::now().time_since_epoch().count(); }
  bool hang_up() override {
    reload_();
    return false;
  }
  bool has_terminal() const override { return false; }
  std::optional<Error> fault() override {
    const std::scoped_lock lock{mutex_};
    return fault_;
  }

  /// A task of the service has ended by `bug`; nullptr: it was to end.
  void lose(std::string_view event, const std::exception_ptr& bug);

  /// When the controller's loop last turned.
  std::chrono::steady_clock::time_point beat() const {
    return std::chrono::steady_clock::time_point{std::chrono::steady_clock::duration{beat_.load()}};
  }

 private:
  Bell& bell_;
  WaitingWords& waiting_;
  std::function<void()> reload_;
  std::atomic<std::chrono::steady_clock::rep> beat_{0};
  std::mutex mutex_{};
  std::optional<Error> fault_{};
};

}  // namespace cupel::api
