#pragma once
// What nearly every command includes: CLI11 alone takes four seconds of each file.
#include <CLI/CLI.hpp>

#include "base/precompiled.h"
