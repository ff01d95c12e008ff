#pragma once
// Which device of the plan a reported one is. Not public: of fabric_audit.cpp.
#include "inventory/fabric_audit.h"

namespace cupel::inventory {

class LinkNames {
 public:
  LinkNames(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids);

  /// In the plan's words; as reported where the plan does not know it. Nothing for a second HCA of
  /// the same name.
  std::optional<CableEnd> end(const SeenEnd& seen) const;
  bool seen_switch(std::string_view name) const { return switches_seen_.contains(name); }
  /// A switch's own HCA, which no cable leads to.
  bool ignored(const SeenEnd& seen) const;
  std::vector<CableFinding>& findings() { return findings_; }

 private:
  struct Identity {
    std::string device{};
    std::string hca{};
    bool twice = false;
  };
  void identify_switch(const SeenDevice& device, Identity& identity);
  void identify_hca(const SeenDevice& device, const HcaGuids& guids, Identity& identity);

  const SeenFabric& seen_;
  std::unordered_map<std::string, const FabricSwitch*> switches_{};  // by name and by GUID
  std::unordered_map<std::string, CableEnd> hcas_{};                 // by lower-case "node hca"
  std::unordered_map<std::string, std::string> nodes_{};             // by lower-case name or host
  std::unordered_map<std::string_view, const SeenDevice*> switches_seen_{};
  std::unordered_map<std::string, const SeenDevice*> hcas_seen_{};
  std::vector<Identity> identities_{};  // as the report's devices
  std::vector<CableFinding> findings_{};
};

}  // namespace cupel::inventory
