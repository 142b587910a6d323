"""Settings of the site: MyST pages, an API reference made from the docstrings, formulas as MathML.

docutils turns formulas into MathML, which browsers draw by themselves: a page loads nothing from elsewhere.
"""

import re
from importlib.metadata import version as installed_version

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

project = "symclust"
version = release = installed_version("symclust")
html_title = f"symclust {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_copybutton"]
templates_path = ["_templates"]
exclude_patterns = ["_templates"]

# Docstrings put names and options in single backticks; what is not a documented name is shown as code.
default_role = "py:obj"
autodoc_typehints = "none"  # the sections of the docstrings say it in words
autosummary_generate = True
numpydoc_show_class_members = False  # the template of classes shows them
numpydoc_attributes_as_param_list = True

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

# The button copies commands without their prompts, and leaves out what they print.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
pygments_dark_style = "github-dark"


def draw_inline(writer, node):
    writer.body.append(mathml(node, as_block=False))
    raise SkipNode


def draw_block(writer, node):
    writer.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>')
    raise SkipNode


def mathml(node, as_block):
    # docutils does not know sizes of brackets; browsers stretch them where needed.
    return tex2mathml(re.sub(r"\\[bB]igg?[lr]?(?![a-z])", "", node.astext()), as_block=as_block)


def without_blank_line(app, docname, source):
    """Doctest needs a blank line after the last answer of a block; readers do not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app):
    app.connect("source-read", without_blank_line)
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))
