"""Where the data files that come with the package lie: scenes, launch files, RViz, parameters."""

import sys
from pathlib import Path

SHARE = Path("share") / "octo_reach"


def share_path(*parts: str) -> Path:
    """Find a data file or folder that is shipped with the package.

    A checkout (also an editable install and colcon's `--symlink-install`, which lead back to one)
    is read where it lies, so that an edit counts at once. Otherwise the nearest `share/octo_reach`
    around the package is taken: PREFIX/share for pip and colcon, TARGET/share for
    `pip install --target`.

    Args:
        parts: the path below the package's share folder, such as `"config", "scenes"` or
            `"rviz/octo_reach.rviz"`; none for the folder itself.

    Returns:
        The absolute path of an existing file or folder.

    Raises:
        FileNotFoundError: there is none; the message names what was searched.
    """
    name = "/".join(parts) or "its data files"
    folders = _share_folders()
    share = next((folder for folder in folders if folder.is_dir()), None)
    if share is None:
        places = ", ".join(str(folder) for folder in folders)
        raise FileNotFoundError(f"octo_reach was installed without {name}: none of {places} exists")
    path = share.joinpath(*parts)
    if not path.exists():
        raise FileNotFoundError(f"octo_reach was installed without {name}: {path} does not exist")
    return path


def _share_folders() -> list[Path]:
    """List the folders that may be the package's share folder, the likeliest first."""
    package = Path(__file__).resolve().parent
    if (package.parent / "package.xml").is_file() and (package.parent / "setup.py").is_file():
        # Only the checkout: a copy installed earlier may be older than what is edited here.
        return [package.parent]
    folders = [parent / SHARE for parent in package.parents[:6]]
    folders.append(Path(sys.prefix) / SHARE)
    return list(dict.fromkeys(folders))
