#pragma once
// Capabilities of steps: who has one may act as the machine. They are no event's: those are read by
// every viewer, in streams and beside certificates. The store keeps them in a table of its own,
// from which a resume alone reads, until the run is over.
#include <string>
#include <string_view>

#include "orchestrator/store/store.h"

namespace cupel::store {

/// What a step must find again after a crash and nobody else may read. Gone when the run is over.
/// Errors: kStorage.
Result<void> keep_secret(const Store& store, RunId run, const std::string& id,
                         const std::string& text);
/// Errors: kNotFound; kStorage.
Result<std::string> secret(const Store& store, RunId run, const std::string& id);

/// `text`, an event's data or any other text, without the boot tickets in it: the digits behind
/// "/boot/", "/home/" and "token" are replaced by as many of kCut. JSON stays JSON. Journals of
/// earlier versions have such tickets in their handles; of a later one an answer of a BMC or a node
/// may have one.
std::string cut_tickets(std::string text);

inline constexpr char kCut = 'x';

/// Whether cut_tickets() has replaced something in it.
bool has_cut_ticket(std::string_view text);

}  // namespace cupel::store
