#pragma once
// Which run and which machines a person means who names a node or a rack. From the store alone.
#include <set>
#include <string>

#include "orchestrator/store/store.h"

namespace cupel::certificate {

struct MeantRun {
  engine::RunId run = 0;
  std::set<std::string> nodes{};  // of the run, that are meant
};

/// `name`: a node: the newest run that has ended and has a verdict of it. Else a rack: the newest
/// such run of any node that stands in it, with all of its nodes that have a verdict there. At most
/// 500 runs of a node and the site's newest 50 of a rack are looked at. Errors: kNotFound: neither;
/// kStorage.
Result<MeantRun> meant_run(const store::Store& store, const std::string& name);

}  // namespace cupel::certificate
