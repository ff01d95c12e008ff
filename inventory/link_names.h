#pragma once
// Which device of the plan a reported one is. Not public: of fabric_audit.cpp.
#include <unordered_set>

#include "inventory/fabric_audit.h"

namespace cupel::inventory {

class LinkNames {
 public:
  LinkNames(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids);

  /// In the plan's words; as reported where the plan does not know it. Nothing for a second HCA of
  /// the same name.
  std::optional<CableEnd> end(const SeenEnd& seen) const;
  bool seen_switch(std::string_view name) const { return switches_seen_.contains(name); }
  /// False of an HCA that may be one of the plan under a name that the plan does not use: "MT4129
  /// ConnectX7 ...", "n05 HCA-1" where HCAs are mlx5_0 to mlx5_9.
  bool understood(const SeenEnd& seen) const { return identities_[seen.device].understood; }
  /// False of an HCA, of whichever host, that is named in another manner than those of the plan.
  bool named_as_planned(const SeenEnd& seen) const { return identities_[seen.device].form_of_plan; }
  /// A switch's own HCA, which no cable leads to.
  bool ignored(const SeenEnd& seen) const;
  std::vector<CableFinding>& findings() { return findings_; }

 private:
  struct Identity {
    std::string device{};
    std::string hca{};
    bool twice = false;
    bool understood = true;
    bool form_of_plan = true;
  };
  void identify_switch(const SeenDevice& device, Identity& identity);
  void identify_hca(const SeenDevice& device, const HcaGuids& guids, Identity& identity);
  void add_names(const Fabric& plan);
  void count_numbers(const SeenFabric& seen);
  const FabricNode* node_named(std::string_view name) const;
  std::string hca_named(const FabricNode& node, std::string_view name) const;

  const SeenFabric& seen_;
  /// How "HCA-1" and so on count: by the list of compute HCAs, by the number of mlx5_0 plus 1, or
  /// not known.
  enum class Numbers { unknown, of_list, of_driver };

  std::unordered_map<std::string, const FabricSwitch*> switches_{};  // by name and by GUID
  std::unordered_map<std::string, CableEnd> hcas_{};                 // by lower-case "node hca"
  std::unordered_map<std::string, const FabricNode*> nodes_{};       // by lower-case name or host
  std::unordered_set<std::string> forms_{};                          // of the plan's HCAs: "mlx5_"
  Numbers numbers_ = Numbers::unknown;
  std::unordered_map<std::string_view, const SeenDevice*> switches_seen_{};
  std::unordered_map<std::string, const SeenDevice*> hcas_seen_{};
  std::vector<Identity> identities_{};  // as the report's devices
  std::vector<CableFinding> findings_{};
};

}  // namespace cupel::inventory
