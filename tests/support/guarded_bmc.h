#pragma once
// A BMC that is about nothing but who may log in: it counts refused logins as BMCs do that lock an
// account, and can lose the connection, or the whole controller, at any single act.
#include <memory>
#include <string>

#include "bmc/bmc.h"

namespace cupel::test {

/// Outlives its Bmcs. `crash_at` counts acts (a login, a change, a note): at that one, and from
/// then on, nothing reaches the world any more; `effective` acts are done before the crash takes
/// them.
struct Guarded {
  std::string password = "factory";
  int refused = 0;
  int changes = 0;
  int open_sessions = 0;
  bool loses_answer_of_change = false;
  std::optional<Error> refuses_change{};
  bool forgets_change = false;
  // An iLO: refuses right passwords too, so many next ones, and wants a pause after each refusal.
  int moods = 0;
  int wrong_after = 1;  // refusals of one password in a row
  int acts = 0;
  int crash_at = -1;
  bool effective = false;
  int in_a_row = 0;
  std::string refused_last{};

  /// True while the controller lives; `done` runs unless the crash came before it.
  template <class Act>
  Result<void> act(Act done) {
    const int mine = acts++;
    const bool dies = crash_at >= 0 && mine >= crash_at;
    if (!dies || (mine == crash_at && effective)) done();
    if (dies) return Error{Code::kCancelled, "the controller died"};
    return ok();
  }
};

class GuardedBmc final : public bmc::Bmc {
 public:
  GuardedBmc(Guarded& guarded, std::string password)
      : guarded_{guarded}, password_{std::move(password)} {
    power.state.bind(this, &GuardedBmc::power_state);
    accounts.change_password.bind(this, &GuardedBmc::change_password);
  }

  Task<void> log_out() override {
    if (in_) --guarded_.open_sessions;
    in_ = false;
    co_return;
  }

 private:
  Task<Result<bmc::Sourced<bmc::PowerState>>> power_state(Deadline) {
    CO_TRY(log_in());
    co_return bmc::Sourced<bmc::PowerState>{bmc::PowerState::off};
  }
  Task<Result<bmc::Protocol>> change_password(std::string, std::string password, Deadline) {
    CO_TRY(log_in());
    if (guarded_.refuses_change) co_return *guarded_.refuses_change;
    CO_TRY(guarded_.act([&] {
      ++guarded_.changes;
      if (!guarded_.forgets_change) guarded_.password = password;
    }));
    if (guarded_.loses_answer_of_change) co_return Error{Code::kUnreachable, "connection broke"};
    co_return bmc::Protocol::redfish;
  }

  Error refusal() {
    guarded_.in_a_row = guarded_.refused_last == password_ ? guarded_.in_a_row + 1 : 1;
    guarded_.refused_last = password_;
    if (guarded_.in_a_row >= guarded_.wrong_after)
      return Error{Code::kRefused, "log in as admin: HTTP 401"};
    return Error{Code::kBusy, "log in as admin: HTTP 401", std::chrono::milliseconds{1}};
  }
  Result<void> log_in() {
    bool right = false;
    TRY(guarded_.act([&] {
      right = password_ == guarded_.password && guarded_.moods == 0;
      if (!right) ++guarded_.refused;
      if (guarded_.moods > 0) --guarded_.moods;
    }));
    if (!right) return refusal();
    guarded_.in_a_row = 0;
    in_ = true;
    ++guarded_.open_sessions;
    return ok();
  }

  Guarded& guarded_;
  std::string password_;
  bool in_ = false;
};

}  // namespace cupel::test
