#pragma once
// What a run's journal says of the run itself: by whom and with what it was made, and what people
// decided in it. For whoever accepts machines by its report. Pure.
#include <boost/json/object.hpp>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/engine/event.h"

namespace cupel::report {

/// Something that a person asked for. What was refused, or what the controller did by itself, is
/// none.
struct Deed {
  engine::WallTime at{};
  std::string by{};
  std::string what{};  // "skipped", "approved", ...
  std::string node{};  // empty: of the run
  std::string step{};
  std::string why{};  // as it was reported; empty: nothing was

  friend bool operator==(const Deed&, const Deed&) = default;
};

/// The admin node's clock as it was set, or as it went on while the machine slept.
struct ClockSet {
  std::int64_t sequence = 0;       // of the event before which it was
  std::chrono::milliseconds by{};  // forward, or back
  friend bool operator==(const ClockSet&, const ClockSet&) = default;
};

/// Name and value, in the order in which they were written.
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Provenance {
  std::string begun_by{}, host{};
  Pairs versions{};  // "cupel": a version; of what it brings to nodes the SHA-256
  Pairs parameters{};
  Pairs profiles{};  // SHA-256 of each
  std::string playbook_sha256{}, inventory_sha256{};
  std::vector<Deed> deeds{};
  std::vector<ClockSet> clock_sets{};
  std::int64_t events = 0;
  std::string head{};  // the last event's hash, in which all of them are
};

Provenance provenance_of(const std::vector<engine::Event>& events);

/// Dates the events as if nobody had set the clock, so that what lies between two of them is the
/// time that passed. Returns how long they took in all.
std::chrono::milliseconds undo_clock_sets(std::vector<engine::Event>& events);

boost::json::object to_json(const Provenance& provenance);

/// "2 years forward before event 40"; empty where it never was set.
std::string clock_text(const Provenance& provenance);

}  // namespace cupel::report
