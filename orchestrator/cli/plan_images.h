#pragma once
// What the OS images of a plan are and how long it takes at least until the last node has its own:
// from the image store's sizes and the rates of the inventory. Nothing is touched to find out.
#include <boost/json/array.hpp>
#include <filesystem>
#include <string>

#include "inventory/fwd.h"
#include "playbooks/plan.h"

namespace cupel::cli {

/// Empty where no node of the plan gets an OS.
std::string images_text(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                        const std::filesystem::path& state);
boost::json::array images_json(const playbooks::Plan& plan, const inventory::Inventory& inventory,
                               const std::filesystem::path& state);

}  // namespace cupel::cli
