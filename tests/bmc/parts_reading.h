#pragma once
// A BMC's tree to which parts are added, and the names of the parts that are read from it.
#include "tests/bmc/reading.h"

namespace cupel::bmc {

class PartsReading : public ReadingTree {
 protected:
  void add_collection(const std::string& of, const std::string& name,
                      const std::vector<std::string>& members) {
    at(of)[name] = link_to(of + "/" + name);
    tree.documents[of + "/" + name] = list_of(members);
  }
  static std::vector<std::string> names(const Observed& seen, inventory::PartKind kind) {
    std::vector<std::string> names;
    for (const auto& part : seen.parts)
      if (part.kind == kind) names.push_back(part.name + " " + part.slot);
    return names;
  }
};

}  // namespace cupel::bmc
