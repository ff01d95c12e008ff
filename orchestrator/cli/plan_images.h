#pragma once
// What the OS images of a plan are and how long it takes at least until the last node has its own:
// from the image store's sizes and the rates of the inventory. Nothing is touched to find out.
#include <boost/json/array.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "playbooks/plan.h"

namespace cupel::cli {

/// Empty where no node of the plan gets an OS.
std::string images_text(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                        const std::filesystem::path& state);
boost::json::array images_json(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                               const std::filesystem::path& state);

/// The RAM systems that machines of this plan boot, and that would obey no boot server of the
/// inventory, and the images that they write and that have no place for the requested seed, each
/// with what to do. Empty: none.
std::vector<std::string> rejected_images(const playbooks::Plan& plan,
                                         const inventory::Inventory& inventory,
                                         const std::filesystem::path& state);
/// The same of those that write the images of the nodes' profiles, with the place of `boot:`.
std::vector<inventory::Problem> rejected_images(const inventory::Inventory& inventory,
                                                const std::filesystem::path& state);

}  // namespace cupel::cli
