#pragma once
// What BMCs mean by the words with which they refuse: data. The words themselves stay in the error;
// this adds what to make of them. Pure.
#include <array>

#include "base/result.h"

namespace cupel::bmc::redfish {

/// The error with the code, patience and advice that its words deserve. An error that says nothing
/// known comes back as it was.
Error explained(Error error);

/// Whether the BMC's words in it hold `word` (of a MessageId, say), in whatever case.
bool says(const Error& error, std::string_view word);

/// Statuses of a BMC that failed while it answered: what it was asked may have begun all the same.
inline constexpr std::array<int, 3> kMayHaveBegun{500, 502, 504};

/// Whether the BMC answered this status.
bool is_http(const Error& error, int status);

/// Of a request that changes something: kUnreachable where what came is no answer of the BMC's (a
/// gateway's error, a failure without a reason, a web page, no JSON): it may have done what it was
/// asked. Another error as it was.
Error unanswered(Error error);

}  // namespace cupel::bmc::redfish
