#pragma once
// The members of a collection that is read without a Survey, over all of its pages.
#include <string>
#include <vector>

#include "bmc/redfish/client.h"
#include "bmc/redfish/survey.h"

namespace cupel::bmc::redfish {

/// For a collection of which the caller reads a few members alone: an iDRAC keeps hundreds of jobs.
inline constexpr std::size_t kMostListed = 4096;

/// The URIs of all members, each once, without those that lead off the BMC. Empty for an empty
/// `collection`. Cancel-safe. Errors: as Client::get of the first page, where kNotFound says that
/// there is no such collection; kMalformed where more than `most` members are listed or there are
/// more than 64 pages, where pages lead in circles before all members that the collection counts
/// are listed, and where a later page is not there: a part of the list is never taken for all of
/// it. Source: DSP0266, "Resource collections" (Members@odata.nextLink).
Task<Result<std::vector<std::string>>> member_uris(Client& client, std::string collection,
                                                   std::size_t most, Deadline deadline);

/// The same where the first page was read already.
Task<Result<std::vector<std::string>>> member_uris(Client& client, Document first, std::size_t most,
                                                   Deadline deadline);

}  // namespace cupel::bmc::redfish
