#pragma once
// The files that an inventory consists of or names: whether others can change them, and whether the
// secrets among them can be had. Reads modes and owners, never a secret.
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "inventory/fwd.h"
#include "inventory/problem.h"

namespace cupel::inventory {

struct NvlRack;

/// The inventory's file and the profiles beside it: who can write to them decides which commands
/// are run (cmd:) and which machines are burned. Each fault with the command that helps.
std::vector<Problem> check_inventory_files(const std::filesystem::path& file);

/// The keys and authorities that the nodes, PDUs, Slurm, Kubernetes and UFM name, the scripts of
/// Slurm's jobs with the folders of their results, the manifest of firmware images with its key and
/// certificate, the folder of images that machines boot, the fabric's cables and forwarding tables,
/// and the security floor, each once. One that is not there is the reader's problem.
std::vector<Problem> check_named_files(const Inventory& inventory);

/// A file with a secret is there, is not open to others (mode 0600 or 0400), and nobody but us and
/// root can change it (base/ownership.h). It is not read. Errors: kInvalid.
Result<void> check_secret_file(const std::filesystem::path& file);

/// The passwords, tokens and private keys that are files, each once: that they are not open to
/// others and belong to us or root; of passwords and tokens that they are there, too. A key that is
/// not there is the reader's problem.
std::vector<Problem> check_secret_files(const Inventory& inventory);

/// The same of the devices of these racks: authorities and certificates that others cannot change,
/// private keys that are not open to others.
std::vector<Problem> check_rack_files(const std::vector<NvlRack>& racks);

/// That the manifest of firmware images and the public key are there. Not asked where an inventory
/// is loaded: `cupel firmware sign` works before both are.
std::vector<Problem> check_image_trust_files(const Inventory& inventory);

}  // namespace cupel::inventory
