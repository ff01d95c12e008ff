#pragma once
// How far the newest firmware update of a node is, beside the journals of the runs: it outlives the
// run that began it, so that a later run, or an operator, goes on from there and nothing is written
// twice.
#include "orchestrator/store/store.h"

namespace cupel::store {

struct FirmwareState {
  enum class End {
    open,       // begun, and no end was seen
    staged,     // written; a reset that Cupel could not do makes it run
    in_doubt,   // what writes may still be at work
    failed,     // ended, and nothing is at work
    done,       // written, and the version was seen
    forgotten,  // by an operator
  } end = End::open;
  RunId written_by = 0;              // the run that began it
  RunId run = 0;                     // the newest one that was at it
  std::string step{};                // of that run: "firmware"
  std::string handle{};              // as the journal has it: firmware/update_handle.h
  std::string held{};                // whose power is held for it: power_hold.h
  std::chrono::sys_seconds since{};  // of the handle's phase, or of the end
  std::string words{};               // of the end
  bool go_on = false;                // the next step of this kind begins from the handle
  std::string window{};              // in which the newest run may begin updates; empty: any time
};

/// Nothing of the update is awaited any more.
bool is_settled(FirmwareState::End end);

/// By the kind of step ("firmware", "node-firmware"), whose updates have nothing to do with each
/// other. Durable when it returns. Errors: kStorage.
Result<void> keep_firmware_state(Store& store, std::string_view kind, const std::string& node,
                                 const FirmwareState& state);
/// Nothing: none was begun. Errors: kStorage, also for what cannot be read.
Result<std::optional<FirmwareState>> firmware_state(Store& store, std::string_view kind,
                                                    const std::string& node);

/// Of which an update is remembered. Errors: kStorage.
Result<std::vector<std::string>> nodes_with_firmware_state(const Store& store,
                                                           std::string_view kind);
/// As it is kept, also where it cannot be read. Nothing: none was begun.
std::optional<std::string> firmware_state_text(Store& store, std::string_view kind,
                                               const std::string& node);
/// As if none was begun. Errors: kStorage.
Result<void> drop_firmware_state(Store& store, std::string_view kind, const std::string& node);

}  // namespace cupel::store
