#pragma once
// Whether this machine, the admin node, can drive the machines of an inventory: its clock, limits,
// disk, programs, names, one BMC, Slurm. Asks; changes nothing and logs in nowhere.
#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "inventory/fwd.h"

namespace cupel::cli {

struct AdminCheck {
  enum class Level { ok, warning, failure } level = Level::ok;
  std::string about{};   // "clock", "open files"
  std::string found{};   // what was seen
  std::string advice{};  // what helps; empty where all is well
};

struct AdminQuestion {
  std::filesystem::path state{};
  std::filesystem::path programs{};                 // as --programs
  const inventory::Inventory* inventory = nullptr;  // nullptr: there is none to check against
  std::string node{};                               // whose BMC is tried; empty: the first one's
};

/// All of them, in the order in which a person mends them. Bounded: at most about a minute.
std::vector<AdminCheck> check_admin_node(const AdminQuestion& question);

boost::json::object to_json(const AdminCheck& check);

}  // namespace cupel::cli
