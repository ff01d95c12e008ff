#include "orchestrator/api/service_front.h"

#include <fmt/format.h>

#include "orchestrator/api/listener.h"

namespace cupel::api {
namespace {

class ServiceView final : public controller::RunView {
 public:
  ServiceView(Bell& bell, WaitingWords& waiting, engine::RunId run)
      : bell_{bell}, waiting_{waiting}, run_{run} {}

  void on_event(const engine::Event& event, const engine::RunState&) override {
    // Whatever a step waited for, its next words say anew.
    if (!event.node.empty()) waiting_.drop(run_, event.node);
    bell_.ring();
  }
  void on_waiting(std::string_view node, std::string_view, std::string_view what) override {
    waiting_.put(run_, node, what);
  }
  void announce(controller::Weight, const std::string&) override {}

 private:
  Bell& bell_;
  WaitingWords& waiting_;
  engine::RunId run_;
};

}  // namespace

std::unique_ptr<controller::RunView> ServiceFront::view(const playbooks::Plan&, engine::RunId run,
                                                        controller::Origin) {
  return std::make_unique<ServiceView>(bell_, waiting_, run);
}

void ServiceFront::lose(std::string_view event, const std::exception_ptr& bug) {
  if (!bug) return;
  log_bug(event, bug);
  const std::scoped_lock lock{mutex_};
  fault_ = Error{Code::kFailed, fmt::format("{}: this is a fault of Cupel; see its log", event)};
}

}  // namespace cupel::api
