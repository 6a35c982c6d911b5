"""The frame around every screen: navigation, looks, who is signed in, and errors in words."""

from __future__ import annotations

import streamlit as st

from app.pages import account, frame, trouble
from app.pages.style import STYLE, WORDMARK

page = frame.navigation()
st.html(STYLE)
st.logo(WORDMARK)
account.draw()
trouble.draw_kept()
with trouble.told(), frame.inside():
    page.run()
