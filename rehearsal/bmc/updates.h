#pragma once
// The updates of one BMC: what is being written, how far it is, what waits for a restart before it
// runs. A state machine in the rack's time: told of events, asked at moments, it says what became
// of them. No HTTP, no timer, no machine.
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rehearsal/bmc/firmware.h"

namespace cupel::rehearsal {

/// How an update ends, as a fault may decide.
enum class Fate {
  good,
  stuck,       // it makes no more progress
  unchanged,   // it says that it is done, and nothing is new
  not_active,  // written, and the activation fails
  refused,     // verified and refused
  interrupted  // the BMC restarts while it writes
};

struct Update {
  enum class Stage {
    transferring,
    verifying,
    verified,   // waits to be told to go on (Supermicro)
    scheduled,  // waits for the host's next boot (Dell's BIOS)
    writing,
    flushing,  // written, 100 %, and not done yet (Supermicro)
    done,
    failed,
  };
  std::string id{};
  std::string name{};
  std::vector<Flash> images{};
  FirmwareKind kind = FirmwareKind::other;  // of what decides how long it takes
  Fate fate = Fate::good;
  std::string complaint{};  // what verifying will have against it; empty: nothing
  bool only_verifies = false;
  Stage stage = Stage::verifying;
  VirtualTime since{0};           // when this stage began
  double started = 0, ended = 0;  // by the BMC's clock; 0: not yet
  std::string message_id{}, message{};

  bool is_over() const { return stage == Stage::done || stage == Stage::failed; }
};

/// What whoever owns the updates does when they come to something.
struct UpdateWorld {
  std::function<void(const Flash&)> install;       // it is what runs from now on
  std::function<void(std::string_view)> complain;  // into the event log
  std::function<void()> restart_bmc;
  std::function<double()> epoch;
};

class Updates {
 public:
  static constexpr std::size_t kMostTasks = 32;

  explicit Updates(const UpdateBehavior& behavior) : behavior_{&behavior} {}

  const std::deque<Update>& all() const { return all_; }
  const Update* find(const std::string& id) const;
  /// The one that goes on now; nullptr: none does.
  const Update* running() const;
  bool writes_bmc() const;
  void forget(const std::string& id);

  /// Begins; `update` says what, the rest is filled in. The oldest that is over gives way.
  const Update& begin(Update update, bool transfers, VirtualTime now, const UpdateWorld& world);
  /// What was verified is written now, as an update of its own. nullptr: nothing was verified.
  const Update* go_on(std::string id, VirtualTime now, const UpdateWorld& world);

  /// 0 to 100.
  int percent(const Update& update, VirtualTime now) const;
  /// What time has brought. To be called whenever `next()` has come, and before anything is read.
  void advance(VirtualTime now, const UpdateWorld& world);
  /// When something will happen by itself.
  std::optional<VirtualTime> next() const;

  /// What happened to the machine and to the BMC itself.
  void host_started(VirtualTime now, const UpdateWorld& world);
  void host_lost_power(VirtualTime now, const UpdateWorld& world);
  void bmc_restarted(VirtualTime now, const UpdateWorld& world);
  void power_drained(VirtualTime now, const UpdateWorld& world);

  /// Versions that wait, by component.
  struct Waiting {
    Flash flash;
    Activation for_what;
    bool fails = false;
  };
  const std::vector<Waiting>& waiting() const { return waiting_; }

 private:
  struct Late {
    Flash flash;
    VirtualTime when;
  };
  VirtualTime span_of(const Update& update) const;
  void enter(Update& update, Update::Stage stage, VirtualTime when, const UpdateWorld& world);
  void finish_stage(Update& update, VirtualTime when, const UpdateWorld& world);
  void written(Update& update, VirtualTime when, const UpdateWorld& world);
  void fail(Update& update, VirtualTime when, const UpdateWorld& world, std::string_view id,
            std::string_view why);
  void activate(std::initializer_list<Activation> by, VirtualTime now, const UpdateWorld& world);

  const UpdateBehavior* behavior_;
  std::deque<Update> all_;
  std::vector<Waiting> waiting_;
  std::vector<Late> late_;
};

}  // namespace cupel::rehearsal
