#pragma once
// The node's own way back: a run that is cancelled, or whose controller never comes back, leaves
// nobody to set the settings back. A timer of systemd does so then, by a copy of this program that
// lies beside the record.
#include "burnin/agent/node/stages/settings_record.h"

namespace cupel::agent {

/// Of a node's own way back: how long it lasts, as its reader knows it, or why there is none.
struct Guard {
  std::string lasts{};  // "3600" seconds; "3600, unless it is restarted"; empty: there is none
  std::string why{};    // there is none, or none that outlives a restart
};

/// Lays it down, to act after so many seconds, again every ten minutes until all is back. On the
/// disk where units can be, so that it outlives a restart of the node; else for this boot alone.
Work<Guard> lay_guard(Node& node, std::uint64_t seconds);

/// Ends a restore that the timer has begun. The record holds all of it still.
Work<bool> stop_guards_work(Node& node);

/// With its timer, so that it begins no other.
Work<bool> stop_guard(Node& node);

/// All of it, also what an earlier version laid down. The copy may be what runs now: its file goes.
Work<bool> remove_guard(Node& node);

/// Whether one that outlives a restart is there.
bool has_guard(const Node& node);

/// Whether the time has come. A clock that was set back behind the beginning makes it so, too.
bool is_guard_due(const Node& node);

}  // namespace cupel::agent
